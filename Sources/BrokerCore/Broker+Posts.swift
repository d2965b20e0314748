import WireProtocol

extension Broker {
    /// Processes one frame. Answers how many deliveries it made, or -1 if it must be tried again after a flush.
    func process(_ text: UnsafeRawBufferPointer, of session: Session) -> Int {
        if let fault = scanner.scan(text) {
            session.hasSpoken = true
            refuse(session, id: nil, fault.protocolError(depth: configuration.limits.depth))
            return 0
        }
        if scanner.isPlainPost(text), let name = scanner.span(.name) {
            let idSpan = scanner[.id]
            if idSpan == nil || idSpan.map({ isValidID($0, text) }) == true {
                session.hasSpoken = true
                let post = Request.Post(
                    name: name, object: scanner[.object], userInfo: scanner[.userInfo],
                    deliverImmediately: false,
                    retain: .no)
                let id = idSpan.flatMap {
                    JSONNumber.unsigned(UnsafeRawBufferPointer(rebasing: text[$0.range]))
                }
                return self.post(post, text, id: id, of: session)
            }
        }
        return processUnusual(text, of: session)
    }

    private func isValidID(_ span: FieldSpan, _ text: UnsafeRawBufferPointer) -> Bool {
        JSONNumber.unsigned(UnsafeRawBufferPointer(rebasing: text[span.range])).map {
            $0 <= Limits.greatestID
        } ?? false
    }

    @inline(never)
    private func processUnusual(_ text: UnsafeRawBufferPointer, of session: Session) -> Int {
        defer { session.hasSpoken = true }
        let decoder = RequestDecoder(scanner, text: text)
        do throws(RequestDecoder.Refusal) {
            let request = try decoder.request()
            let id = (try? decoder.id()) ?? nil
            if case .post(let post) = request { return self.post(post, text, id: id, of: session) }
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
        }
    }

    @inline(__always)
    private func post(
        _ post: Request.Post, _ text: UnsafeRawBufferPointer, id: UInt64?, of session: Session
    ) -> Int {
        let raw = UnsafeRawBufferPointer(rebasing: text[post.name.content])
        if post.name.kind == .string { return deliver(post, text, name: raw, id: id, of: session) }
        return JSONString.unescaped(raw).withUnsafeBytes { name in
            deliver(post, text, name: name, id: id, of: session)
        }
    }

    /// Relays a post of this name, if all that it states is right.
    @inline(__always)
    private func deliver(
        _ post: Request.Post, _ text: UnsafeRawBufferPointer, name: UnsafeRawBufferPointer, id: UInt64?,
        of session: Session
    ) -> Int {
        guard let object = post.object else {
            return deliver(post, text, name: name, object: nil, id: id, of: session)
        }
        let raw = UnsafeRawBufferPointer(rebasing: text[object.content])
        if object.kind == .string { return deliver(post, text, name: name, object: raw, id: id, of: session) }
        return JSONString.unescaped(raw).withUnsafeBytes { plain in
            deliver(post, text, name: name, object: plain, id: id, of: session)
        }
    }

    private func deliver(
        _ post: Request.Post, _ text: UnsafeRawBufferPointer, name: UnsafeRawBufferPointer,
        object: UnsafeRawBufferPointer?, id: UInt64?, of session: Session
    ) -> Int {
        if let object, object.count > configuration.limits.objectBytes {
            refuse(session, id: id, Self.tooLong("object", object.count, configuration.limits.objectBytes))
            return 0
        }
        let route = router.route(name, object: object)
        if !route.nameIsKnown, let error = nameError(name, "name") {
            refuse(session, id: id, error)
            return 0
        }
        var isRetained = true
        if case .no = post.retain { isRetained = false }
        if isRetained, let error = retainError(post, name, object, session) {
            refuse(session, id: id, error)
            return 0
        }
        let parts = NotificationEncoder.Parts(
            name: UnsafeRawBufferPointer(rebasing: text[post.name.range]),
            object: post.object.map { UnsafeRawBufferPointer(rebasing: text[$0.range]) },
            userInfo: post.userInfo.map { UnsafeRawBufferPointer(rebasing: text[$0.range]) },
            deliverImmediately: post.deliverImmediately)
        let upperBound =
            NotificationEncoder.overhead + parts.name.count + (parts.object?.count ?? 0)
            + (parts.userInfo?.count ?? 0)
        var targets = (slots: route.slots, count: route.count)
        let isCareful =
            delivery.backlogged > 0 || delivery.mostNoted + upperBound > delivery.queueLimit
        if isCareful, targets.count > 0 {
            guard let chosen = choose(targets, size: upperBound, sender: session) else { return -1 }
            targets = chosen
        }
        let seq = encoder.advance(time: wall, sender: session.sender)
        session.posted &+= 1
        delivery.statistics.posted &+= 1
        if busiest.isCounting { busiest.count(name) }
        if targets.count > 0 { write(parts, to: targets.slots, count: targets.count, of: session) }
        if isRetained { keep(post, name, object, parts, session) }
        if let id {
            delivery.sendReceipt(id: id, seq: seq, receivers: targets.count, to: session.slot)
            pauseOnOwnAnswers(session)
        }
        return targets.count
    }

    /// Encodes a notification once, and notes it for each receiver.
    @inline(__always)
    private func write(
        _ parts: NotificationEncoder.Parts, to slots: UnsafePointer<Int32>, count: Int, of session: Session
    ) {
        let start = delivery.notices.end
        let front = encoder.encodeFront(parts, to: start)
        var end = start + front
        if let userInfo = parts.userInfo {
            if userInfo.count >= Delivery.externalUserInfo, let storage = session.decoder.storage {
                end.storeBytes(of: UInt8(ascii: "}"), as: UInt8.self)
                delivery.notices.advance(front + 1)
                delivery.noteExternal(
                    slots, count: count, front: UnsafeRawPointer(start), frontCount: front,
                    userInfo: userInfo,
                    in: storage)
                return
            }
            if let base = userInfo.baseAddress { end.copyMemory(from: base, byteCount: userInfo.count) }
            end += userInfo.count
        }
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
        var isOver = false
        for index in 0..<targets.count {
            let outlet = sessions.outlets[Int(targets.slots[index])]
            if outlet.isBlocked, outlet.overflow == .wait {
                pressure.ease(sender, on: targets.slots[index], now: now.monotonic)
            }
            guard outlet.pending + size > limit || outlet.isMissingSome else { continue }
            if outlet.noted > 0, !outlet.isBlocked { return nil }
            isOver = true
        }
        if !isOver { return targets }
        chosen.removeAll(keepingCapacity: true)
        for index in 0..<targets.count {
            let slot = targets.slots[index]
            if admit(slot, size: size, sender: sender) { chosen.append(slot) }
        }
        return chosen.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return (targets.slots, 0) }
            return (base, buffer.count)
        }
    }

    /// Whether one receiver gets a notification of `size` bytes, that perhaps has no room.
    private func admit(_ slot: Int32, size: Int, sender: Session) -> Bool {
        guard let receiver = sessions[slot] else { return false }
        let outlet = sessions.outlets[Int(slot)]
        let limit = delivery.queueLimit
        if receiver.missing.count > 0 {
            // The gap stands before whatever is newer.
            guard outlet.pending == 0 || outlet.pending + Gap.frameBytes + size <= limit else {
                miss(receiver)
                return false
            }
            tellMissing(receiver, always: true)
            return true
        }
        // One frame may always be queued, however large it is.
        if outlet.pending + size <= limit { return true }
        switch outlet.overflow {
        case .wait:
            pressure.pause(sender, on: receiver, now: now.monotonic)
            return true
        case .coalesce:
            if outlet.pending > 0 { delivery.coalesce(receiver, makingRoomFor: size) }
            return true
        case .drop:
            if outlet.pending == 0 { return true }
            miss(receiver)
            return false
        }
    }

    private func miss(_ receiver: Session) {
        receiver.missing.add(encoder.seq + 1)
        sessions.outlets[Int(receiver.slot)].isMissingSome = true
        delivery.countDropped(receiver, 1)
    }

    /// Tells what was dropped, if the queue has room for that.
    func tellMissing(_ receiver: Session, always: Bool = false) {
        guard receiver.missing.count > 0 else { return }
        let outlet = sessions.outlets[Int(receiver.slot)]
        guard always || outlet.pending + Gap.frameBytes <= delivery.queueLimit else { return }
        let gap = receiver.missing
        receiver.missing = Gap()
        sessions.outlets[Int(receiver.slot)].isMissingSome = false
        delivery.send(gap.frame(), to: receiver.slot)
    }

    // Retained posts.

    private func retainError(
        _ post: Request.Post, _ name: UnsafeRawBufferPointer, _ object: UnsafeRawBufferPointer?,
        _ session: Session
    ) -> ProtocolError? {
        let name = [UInt8](name)
        let object = object.map { [UInt8]($0) }
        let charge =
            post.retain == .keep
            ? RetainedNotification.charge(name: name, object: object, userInfo: post.userInfo?.count ?? 0)
            : nil
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

    private func keep(
        _ post: Request.Post, _ name: UnsafeRawBufferPointer, _ object: UnsafeRawBufferPointer?,
        _ parts: NotificationEncoder.Parts, _ session: Session
    ) {
        let name = [UInt8](name)
        let object = object.map { [UInt8]($0) }
        switch post.retain {
        case .no: return
        case .clear: retained.clear(name: name, object: object)
        case .keep:
            retained.keep(
                RetainedNotification(
                    seq: encoder.seq, time: now.wall, sender: session.sender, name: name, object: object,
                    deliverImmediately: post.deliverImmediately, userInfo: parts.userInfo))
        }
    }
}
