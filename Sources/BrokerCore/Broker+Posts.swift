import WireProtocol

extension FieldSpan {
    // Cheaper than a call into the other module, once for each part of each post.
    fileprivate var length: Int { Int(end &- start) }
}

extension Broker {
    /// Processes one frame. Answers how many bytes its deliveries have, or -1 if it must be tried again after a flush.
    func process(_ text: UnsafeRawBufferPointer, of session: Session) -> Int {
        switch scanner.scan(text) {
        case .plainPostAgain where router.version == lastRouteVersion && !busiest.isCounting:
            // The name and object are those of the last post, and nothing has changed: its route holds.
            guard let base = text.baseAddress else { return 0 }
            session.hasSpoken = true
            let post = scanner.post.pointee
            return relay(
                NotificationEncoder.Parts(
                    text: base, name: post.name, object: post.object, userInfo: post.userInfo,
                    deliverImmediately: false),
                to: lastRoute, id: post.id, of: session)
        case .plainPost, .plainPostAgain:
            session.hasSpoken = true
            return post(scanner.post.pointee, text, .no, deliverImmediately: false, of: session)
        case .frame:
            return processUnusual(text, of: session)
        case .fault(let fault):
            session.hasSpoken = true
            refuse(session, id: nil, fault.protocolError(depth: configuration.limits.depth))
            return 0
        }
    }

    @inline(never)
    private func processUnusual(_ text: UnsafeRawBufferPointer, of session: Session) -> Int {
        defer { session.hasSpoken = true }
        let decoder = RequestDecoder(scanner, text: text)
        do throws(RequestDecoder.Refusal) {
            let request = try decoder.request()
            let id = (try? decoder.id()) ?? nil
            if case .post(let post) = request {
                let plain = PlainPost(
                    name: post.name, object: post.object ?? .none, userInfo: post.userInfo ?? .none,
                    id: id ?? PlainPost.noID)
                return self.post(
                    plain, text, post.retain, deliverImmediately: post.deliverImmediately, of: session)
            }
            do throws(ProtocolError) {
                try perform(request, text, id: id, for: session)
            } catch {
                refuse(session, id: id, error)
            }
        } catch {
            refuse(session, id: error.id, error.error)
        }
        return 0
    }

    /// Answers a frame with an error.
    func refuse(_ session: Session, id: UInt64?, _ error: ProtocolError) {
        delivery.statistics.rejected &+= 1
        events.append(.refused(session.slot, error.code))
        var frame = FrameWriter("error")
        if let id { frame.member("id", id) }
        frame.member("code", error.code.rawValue)
        frame.member("message", error.message)
        if error.code == .unsupportedProtocol {
            frame.key("protocols")
            frame.array([1]) { $0.number($1) }
        }
        answer(session, frame.finish())
    }

    /// Sends an answer. A client that does not read its answers is not read.
    func answer(_ session: Session, _ frame: [UInt8]) {
        delivery.send(frame, to: session.slot)
        pauseOnOwnAnswers(session)
    }

    private func pauseOnOwnAnswers(_ session: Session) {
        let outlet = sessions.outlets[Int(session.slot)]
        if outlet.pending > delivery.queueLimit, session.isOpen, !outlet.isClosed {
            pressure.pause(session, on: session, now: now.monotonic)
            // It may be another one's request that is answered.
            stopFrameClock(session)
        }
    }

    /// A post with its texts unescaped.
    private struct Posting {
        var parts: NotificationEncoder.Parts
        var name: UnsafeRawBufferPointer
        var object: UnsafeRawBufferPointer?
        var id: UInt64
        var retain: Request.Retain

        var givenID: UInt64? { id == PlainPost.noID ? nil : id }
    }

    @inline(__always)
    private func post(
        _ post: PlainPost, _ text: UnsafeRawBufferPointer, _ retain: Request.Retain, deliverImmediately: Bool,
        of session: Session
    ) -> Int {
        guard let base = text.baseAddress else { return 0 }
        var posting = Posting(
            parts: NotificationEncoder.Parts(
                text: base, name: post.name, object: post.object, userInfo: post.userInfo,
                deliverImmediately: deliverImmediately),
            name: UnsafeRawBufferPointer(start: base + Int(post.name.start) + 1, count: post.name.count - 2),
            object: nil, id: post.id, retain: retain)
        if case .string = post.name.kind {
            if case .null = post.object.kind { return deliver(posting, of: session) }
            return deliverWithObject(&posting, post.object, of: session)
        }
        return JSONString.unescaped(posting.name).withUnsafeBytes { name in
            posting.name = name
            return deliverWithObject(&posting, post.object, of: session)
        }
    }

    private func deliverWithObject(_ posting: inout Posting, _ object: FieldSpan, of session: Session) -> Int
    {
        guard object.isString else { return deliver(posting, of: session) }
        let quoted = posting.parts.bytes(object)
        let raw = UnsafeRawBufferPointer(rebasing: quoted[1..<quoted.count - 1])
        if case .string = object.kind {
            posting.object = raw
            return deliver(posting, of: session)
        }
        return JSONString.unescaped(raw).withUnsafeBytes { plain in
            posting.object = plain
            return deliver(posting, of: session)
        }
    }

    /// Relays a post, if all that it states is right.
    private func deliver(_ posting: Posting, of session: Session) -> Int {
        lastRouteVersion = UInt64.max
        if let object = posting.object, object.count > configuration.limits.objectBytes {
            refuse(
                session, id: posting.givenID,
                Self.tooLong("object", object.count, configuration.limits.objectBytes))
            return 0
        }
        let route = router.route(posting.name, object: posting.object)
        if !route.nameIsKnown, let error = nameError(posting.name, "name") {
            refuse(session, id: posting.givenID, error)
            return 0
        }
        var isRetained = true
        if case .no = posting.retain { isRetained = false }
        if isRetained, let error = retainError(posting, session) {
            refuse(session, id: posting.givenID, error)
            return 0
        }
        lastRoute = route
        lastRouteVersion = router.version
        let relayed = relay(posting.parts, to: route, id: posting.id, of: session, counting: posting.name)
        if isRetained, relayed >= 0 { keep(posting, seq: encoder.seq, session) }
        return relayed
    }

    /// Relays a post to its receivers, in this order after all before it. Answers as `process` does.
    @inline(__always)
    private func relay(
        _ parts: NotificationEncoder.Parts, to route: Router.Route, id: UInt64, of session: Session,
        counting name: UnsafeRawBufferPointer? = nil
    ) -> Int {
        let upperBound =
            encodingOverhead &+ parts.name.length &+ parts.object.length &+ parts.userInfo.length
        var slots = route.slots
        var count = route.count
        if count > 0, delivery.backlogged > 0 || delivery.mostNoted &+ upperBound > delivery.queueLimit {
            guard let chosen = choose((slots, count), size: upperBound, sender: session) else { return -1 }
            slots = chosen.slots
            count = chosen.count
        }
        let seq = encoder.advance(time: wall, sender: session.sender)
        session.posted &+= 1
        delivery.statistics.posted &+= 1
        if let name, busiest.isCounting { busiest.count(name) }
        if count > 0 {
            write(parts, to: slots, count: count, of: session)
            session.recentReceivers = (slots[0], slots[count >> 1], slots[count &- 1])
            session.recentCount = count
        }
        if id != UInt64.max {
            delivery.sendReceipt(id: id, seq: seq, receivers: count, to: session.slot)
            pauseOnOwnAnswers(session)
        }
        return count &* upperBound
    }

    /// Encodes a notification once, and notes it for each receiver.
    @inline(__always)
    private func write(
        _ parts: NotificationEncoder.Parts, to slots: UnsafePointer<Int32>, count: Int, of session: Session
    ) {
        let start = delivery.notices.end
        let front = encoder.encodeFront(parts, to: start)
        var end = start + front
        let userInfoCount = parts.userInfo.length
        if userInfoCount >= Delivery.externalUserInfo, let storage = session.decoder.storage {
            end.storeBytes(of: UInt8(ascii: "}"), as: UInt8.self)
            delivery.notices.advance(front + 1)
            delivery.noteExternal(
                slots, count: count, front: UnsafeRawPointer(start), frontCount: front,
                userInfo: parts.bytes(parts.userInfo), in: storage)
            return
        }
        end.copyMemory(from: parts.text + Int(parts.userInfo.start), byteCount: userInfoCount)
        end += userInfoCount
        end.storeBytes(of: UInt8(ascii: "}"), as: UInt8.self)
        let whole = end - start + 1
        delivery.notices.advance(whole)
        for index in 0..<count { delivery.noteNotification(slots[index], UnsafeRawPointer(start), whole) }
    }

    /// Applies the overflow policies: who gets the notification, who misses it, whom the sender has to wait for. Answers nil
    /// if a flush may make room first.
    private func choose(
        _ targets: (slots: UnsafePointer<Int32>, count: Int), size: Int, sender: Session
    ) -> (slots: UnsafePointer<Int32>, count: Int)? {
        let limit = delivery.queueLimit
        let outlets = sessions.outlets
        reserveChosen(targets.count)
        var count = 0
        // Those without room are listed from the end.
        var firstOver = targets.count
        for index in 0..<targets.count {
            let slot = targets.slots[index]
            let outlet = outlets + Int(slot)
            if outlet.pointee.hasRoom(for: size, limit: limit) {
                chosen[count] = slot
                count &+= 1
                continue
            }
            if outlet.pointee.noted > 0, !outlet.pointee.isBlocked { return nil }
            firstOver &-= 1
            chosen[firstOver] = slot
        }
        if firstOver == targets.count { return targets }
        for index in firstOver..<targets.count {
            let slot = chosen[index]
            if outlets[Int(slot)].dropsMore(size: size, limit: limit) {
                miss(slot)
            } else if admit(slot, size: size, sender: sender) {
                chosen[count] = slot
                count &+= 1
            }
        }
        return (UnsafePointer(chosen), count)
    }

    private func reserveChosen(_ count: Int) {
        if count <= chosenCapacity { return }
        chosen.deallocate()
        chosenCapacity = max(count, 2 * chosenCapacity)
        chosen = .allocate(capacity: chosenCapacity)
    }

    /// Whether one receiver gets a notification of `size` bytes, that perhaps has no room.
    private func admit(_ slot: Int32, size: Int, sender: Session) -> Bool {
        guard let receiver = sessions[slot] else { return false }
        let outlet = sessions.outlets + Int(slot)
        let limit = delivery.queueLimit
        // One frame may always be queued, however large it is.
        let wasEmpty = outlet.pointee.pending == 0
        // The gap stands before whatever is newer.
        tellMissing(slot, always: true)
        if outlet.pointee.pending + size <= limit { return true }
        switch outlet.pointee.overflow {
        case .wait:
            pressure.pause(sender, on: receiver, now: now.monotonic)
            return true
        case .coalesce:
            if !wasEmpty {
                delivery.coalesce(receiver, makingRoomFor: size)
                pressure.relax(receiver)
            }
            return true
        case .drop:
            if wasEmpty { return true }
            miss(slot)
            return false
        }
    }

    private func miss(_ slot: Int32) {
        sessions.losses[Int(slot)].missing.add(encoder.seq + 1)
        sessions.outlets[Int(slot)].isMissingSome = true
        delivery.countDropped(slot, 1)
    }

    /// Tells what was dropped, if anything was, and if the queue has room for that.
    func tellMissing(_ slot: Int32, always: Bool = false) {
        let outlet = sessions.outlets[Int(slot)]
        guard outlet.isMissingSome, always || outlet.pending + Gap.frameBytes <= delivery.queueLimit else {
            return
        }
        let gap = sessions.losses[Int(slot)].missing
        sessions.losses[Int(slot)].missing = Gap()
        sessions.outlets[Int(slot)].isMissingSome = false
        delivery.send(gap.frame(), to: slot)
    }

    // Retained posts.

    private func retainError(_ posting: Posting, _ session: Session) -> ProtocolError? {
        let name = [UInt8](posting.name)
        let object = posting.object.map { [UInt8]($0) }
        var charge: Int?
        if case .keep = posting.retain {
            charge = RetainedNotification.charge(
                name: name, object: object, userInfo: posting.parts.userInfo.count)
        }
        do throws(RetainedStore.Refusal) {
            try retained.check(
                name: name, object: object, charge: charge, uid: session.sender.uid,
                isForeign: session.isForeign)
            return nil
        } catch {
            return explained(error, isForeign: session.isForeign)
        }
    }

    private func explained(_ refusal: RetainedStore.Refusal, isForeign: Bool) -> ProtocolError {
        switch refusal {
        case .noRoom(let needed, let left):
            ProtocolError(
                .limitExceeded,
                "the notification takes \(needed) bytes of the room for retained ones, and \(left) of \(isForeign ? retained.foreignRoom : retained.room) are left"
            )
        case .foreign(let uid):
            ProtocolError(.notPermitted, "what is retained under this name and object belongs to user \(uid)")
        }
    }

    private func keep(_ posting: Posting, seq: UInt64, _ session: Session) {
        let name = [UInt8](posting.name)
        let object = posting.object.map { [UInt8]($0) }
        switch posting.retain {
        case .no: return
        case .clear: retained.clear(name: name, object: object)
        case .keep:
            let userInfo = posting.parts.userInfo
            retained.keep(
                RetainedNotification(
                    seq: seq, time: wall, sender: session.sender, name: name, object: object,
                    deliverImmediately: posting.parts.deliverImmediately,
                    userInfo: userInfo.count > 0 ? posting.parts.bytes(userInfo) : nil))
        }
    }
}
