import WireProtocol

extension Broker {
    static func tooLong(_ member: String, _ count: Int, _ limit: Int) -> ProtocolError {
        ProtocolError(
            .limitExceeded, "the member \"\(member)\" has \(count) bytes: the limit is \(limit) bytes")
    }

    func nameError(_ name: UnsafeRawBufferPointer, _ member: String) -> ProtocolError? {
        do throws(NameRules.Fault) {
            try NameRules.check(name: name, limit: configuration.limits.nameBytes)
            return nil
        } catch {
            return Self.explained(error, member)
        }
    }

    private static func explained(_ fault: NameRules.Fault, _ member: String) -> ProtocolError {
        switch fault {
        case .empty:
            ProtocolError(.invalidMember, "the member \"\(member)\" is empty: it must have at least 1 byte")
        case .tooLong(let count, let limit):
            member == "name"
                ? tooLong(member, count, limit)
                : ProtocolError(
                    .invalidMember,
                    "the member \"\(member)\" has \(count) bytes: at most \(limit) are allowed")
        case .control(let byte, let offset):
            ProtocolError(
                .invalidMember,
                "the member \"\(member)\" has the control character U+\(String(UInt32(byte) + 0x10000, radix: 16, uppercase: true).dropFirst()) at byte \(offset) of its text: none is allowed"
            )
        case .loneBackslash:
            ProtocolError(.invalidMember, "the glob ends with a lone backslash: \\\\ stands for one")
        }
    }

    private func plain(_ span: FieldSpan, _ text: UnsafeRawBufferPointer) -> [UInt8] {
        let raw = UnsafeRawBufferPointer(rebasing: text[span.content])
        return span.kind == .escapedString ? JSONString.unescaped(raw) : [UInt8](raw)
    }

    private func label(_ span: FieldSpan, _ text: UnsafeRawBufferPointer, _ member: String)
        throws(ProtocolError) -> [UInt8]
    {
        let label = plain(span, text)
        do throws(NameRules.Fault) {
            try NameRules.check(byteCount: label.count)
        } catch {
            throw Self.explained(error, member)
        }
        return label
    }

    private func name(_ span: FieldSpan, _ text: UnsafeRawBufferPointer) throws(ProtocolError) -> [UInt8] {
        let name = plain(span, text)
        if let error = name.withUnsafeBytes({ nameError($0, "name") }) { throw error }
        return name
    }

    private func object(_ span: FieldSpan?, _ text: UnsafeRawBufferPointer) throws(ProtocolError) -> [UInt8]?
    {
        guard let span else { return nil }
        let object = plain(span, text)
        let limit = configuration.limits.objectBytes
        if object.count > limit { throw Self.tooLong("object", object.count, limit) }
        return object
    }

    /// Does what a request other than a post asks for.
    func perform(
        _ request: Request, _ text: UnsafeRawBufferPointer, id: UInt64?, for session: Session
    ) throws(ProtocolError) {
        switch request {
        case .post: break
        case .hello(let hello): try welcome(hello, text, id: id, session)
        case .addObserver(let observer): try add(observer, text, id: id, session)
        case .removeObserver(let span):
            let label = try label(span, text, "observer")
            guard let observation = session.removeObserver(label) else {
                throw ProtocolError(.noSuchObserver, "this connection has no observer of that label")
            }
            remove([observation], of: session)
            confirm(session, id)
        case .awaitObservers(let wait): try self.wait(wait, text, id: id, session)
        case .ping: confirm(session, id)
        case .status(let detail):
            if detail, !session.isForeign { busiest.start() }
            answer(session, status(id: id ?? 0, detail: detail, for: session))
        case .stop:
            guard !session.isForeign else {
                throw ProtocolError(
                    .notPermitted,
                    "user \(session.sender.uid) may not stop the broker of user \(configuration.ownUser)")
            }
            confirm(session, id)
            wasAskedToStop = true
            events.append(.stopRequested(session.slot))
        }
    }

    private func confirm(_ session: Session, _ id: UInt64?) {
        guard let id else { return }
        var frame = FrameWriter("ok")
        frame.member("id", id)
        answer(session, frame.finish())
    }

    private func welcome(
        _ hello: Request.Hello, _ text: UnsafeRawBufferPointer, id: UInt64?, _ session: Session
    ) throws(ProtocolError) {
        if hello.namesFeatures, session.hasSpoken {
            throw ProtocolError(
                .invalidMember, "the member \"features\" may stand in a connection's first frame only")
        }
        if let client = hello.client {
            session.clientName = client.count == 2 ? [] : try label(client, text, "client")
        }
        let limits = configuration.limits
        var frame = FrameWriter("welcome")
        if let id { frame.member("id", id) }
        frame.member("protocol", 1)
        frame.key("broker")
        frame.object { frame in
            frame.member("version", configuration.version)
            frame.member("instance", configuration.instance)
        }
        frame.member("features", json: "[]".utf8)
        frame.member("connection", session.sender.connection)
        frame.member("seq", encoder.seq)
        frame.key("limits")
        frame.object { frame in
            frame.member("frameBytes", limits.frameBytes)
            frame.member("nameBytes", limits.nameBytes)
            frame.member("objectBytes", limits.objectBytes)
            frame.member("depth", limits.depth)
            frame.member("queueBytes", limits.queueBytes)
            frame.member("observers", limits.observers)
        }
        answer(session, frame.finish())
    }

    private func add(
        _ observer: Request.AddObserver, _ text: UnsafeRawBufferPointer, id: UInt64?, _ session: Session
    ) throws(ProtocolError) {
        let label = try label(observer.label, text, "observer")
        let object = try object(observer.object, text)
        let subject: Observation.Subject
        switch observer.subject {
        case .everything: subject = .everything
        case .name(let span): subject = .name(try name(span, text))
        case .pattern(let span):
            let glob = plain(span, text)
            do throws(NameRules.Fault) {
                subject = .pattern(glob, try NamePattern(glob))
            } catch {
                throw Self.explained(error, "match")
            }
        }
        if session.observers[label] != nil {
            throw ProtocolError(.observerExists, "this connection has an observer of that label already")
        }
        let limit = configuration.limits.observers
        if session.observers.count >= limit {
            throw ProtocolError(
                .limitExceeded,
                "the connection has \(session.observers.count) observers: the limit is \(limit)")
        }
        // A connection that can't be written to any more receives nothing.
        if sessions.outlets[Int(session.slot)].isClosed { return }
        if let room = access.addObserver(session.sender.uid) {
            throw ProtocolError(.limitExceeded, "there is room for \(room) observers, and all of it is taken")
        }
        let overflow = session.isForeign && observer.overflow == .wait ? .drop : observer.overflow
        session.add(Observation(subject: subject, object: object, overflow: overflow), label: label)
        delivery.statistics.observers += 1
        router.add(session.slot, subject, object: object)
        setOverflow(of: session)
        confirm(session, id)
        let kept = retained.matching(subject, object: object)
        if !kept.isEmpty { delivery.append(Replay(label: label, kept), to: session) }
        for (awaiter, receivers) in router.takeSatisfied(by: subject) {
            guard let waiting = sessions[awaiter.slot] else { continue }
            waiting.awaiting -= 1
            confirm(waiting, awaiter.id, receivers: receivers)
        }
    }

    private func confirm(_ session: Session, _ id: UInt64, receivers: Int) {
        var frame = FrameWriter("ok")
        frame.member("id", id)
        frame.member("receivers", receivers)
        answer(session, frame.finish())
    }

    private func wait(
        _ wait: Request.AwaitObservers, _ text: UnsafeRawBufferPointer, id: UInt64?, _ session: Session
    ) throws(ProtocolError) {
        guard let id else { return }
        let name = try name(wait.name, text)
        let object = try object(wait.object, text)
        let receivers = router.receivers(name, object: object)
        if receivers >= wait.count { return confirm(session, id, receivers: receivers) }
        let limit = configuration.limits.observers
        if session.awaiting >= limit {
            throw ProtocolError(
                .limitExceeded,
                "the connection awaits observers \(session.awaiting) times: the limit is \(limit)")
        }
        session.awaiting += 1
        router.wait(Awaiter(slot: session.slot, id: id, object: object, count: wait.count), for: name)
    }

    /// Lets a connection's policy follow from its observers.
    private func setOverflow(of session: Session) {
        let overflow = session.effectiveOverflow
        let current = sessions.outlets[Int(session.slot)].overflow
        if overflow == current { return }
        delivery.setOverflow(overflow, of: session)
        if overflow != .wait { releaseAtLastReceiver(session) }
    }

    private func remove(_ observations: [Observation], of session: Session) {
        for observation in observations {
            router.remove(session.slot, observation.subject, object: observation.object)
        }
        delivery.statistics.observers -= observations.count
        access.removeObservers(observations.count, of: session.sender.uid)
        if session.observers.isEmpty { releaseAtLastReceiver(session) } else { setOverflow(of: session) }
    }

    /// Nobody fills this queue any more, so nobody needs to wait for it. A queue far over its limit keeps its waiters: else
    /// an observer that comes and goes could let it grow without bound.
    private func releaseAtLastReceiver(_ session: Session) {
        if sessions.outlets[Int(session.slot)].pending <= 2 * delivery.queueLimit {
            pressure.release(session)
        }
    }

    func removeAllObservers(of session: Session) {
        let observations = session.removeAllObservers()
        if !observations.isEmpty { remove(observations, of: session) }
    }
}
