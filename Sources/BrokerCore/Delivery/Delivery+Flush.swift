import WireProtocol

/// The flush: what was noted is offered to the kernel, and what it doesn't take is queued.
extension Delivery {
    /// Fills `pieces` with what a connection has to be sent next; answers how many. None are left when all is written.
    func gather(_ slot: Int32, _ pieces: UnsafeMutableBufferPointer<Piece>) -> Int {
        guard let session = sessions[slot], !sessions.outlets[Int(slot)].isClosed else { return 0 }
        let outlet = sessions.outlets + Int(slot)
        if let outbox = session.outbox {
            settle(slot)
            if outbox.awaitsReplay {
                outbox.pullReplay(upTo: min(64 << 10, queueLimit / 4))
                update(session)
            }
            guard let outbox = session.outbox else { return 0 }
            let count = outbox.gather(pieces)
            // Gaps may have come to it.
            outlet.pointee.queued = outbox.bytes
            return count
        }
        if outlet.pointee.noted == 0 { return 0 }
        if session.pieces.isEmpty, let start = outlet.pointee.openStart, let end = outlet.pointee.openEnd {
            pieces[0] = Piece(start: start, count: end - start)
            return 1
        }
        closePiece(slot, outlet)
        let count = min(session.pieces.count, pieces.count)
        for index in 0..<count { pieces[index] = session.pieces[index] }
        return count
    }

    /// The kernel took `count` bytes of what was gathered.
    func wrote(_ slot: Int32, _ count: Int) {
        guard let session = sessions[slot] else { return }
        let outlet = sessions.outlets + Int(slot)
        statistics.bytesOut &+= UInt64(count)
        if let outbox = session.outbox {
            countDelivered(session, outbox.remove(count, &session.ledger))
            update(session)
        } else if count == outlet.pointee.noted, session.ledger.isAtBoundary {
            countDelivered(session, outlet.pointee.notedNotifications)
            clearNoted(session, outlet)
        } else {
            closePiece(slot, outlet)
            removeWritten(session, outlet, count)
        }
    }

    private func removeWritten(_ session: Session, _ outlet: UnsafeMutablePointer<Outlet>, _ count: Int) {
        var left = count
        var whole = 0
        while left > 0, whole < session.pieces.count {
            let step = min(left, session.pieces[whole].count)
            let ended = session.ledger.advance(session.pieces[whole].start, by: step)
            countDelivered(session, ended)
            outlet.pointee.notedNotifications -= ended
            left -= step
            session.pieces[whole].start += step
            session.pieces[whole].count -= step
            if session.pieces[whole].count == 0 { whole += 1 }
        }
        session.pieces.removeFirst(whole)
        outlet.pointee.noted -= count
    }

    private func countDelivered(_ session: Session, _ count: Int) {
        session.delivered &+= UInt64(count)
        statistics.delivered &+= UInt64(count)
    }

    private func clearNoted(_ session: Session, _ outlet: UnsafeMutablePointer<Outlet>) {
        outlet.pointee.openStart = nil
        outlet.pointee.openEnd = nil
        outlet.pointee.noted = 0
        outlet.pointee.notedNotifications = 0
        if !session.pieces.isEmpty { session.pieces.removeAll() }
    }

    /// Moves what is noted to the outbox.
    func settle(_ slot: Int32) {
        let outlet = sessions.outlets + Int(slot)
        guard outlet.pointee.noted > 0, let session = sessions[slot] else { return }
        if outlet.pointee.isClosed { return clearNoted(session, outlet) }
        closePiece(slot, outlet)
        var notifications = outlet.pointee.notedNotifications
        let pieces = session.pieces
        clearNoted(session, outlet)
        // A storage of which half is left to slow receivers is kept; one who has little of it copies that all the same, so
        // that little never holds much.
        var shared: UInt64 = 0
        for index in left.indices {
            let storage = storage(at: index)
            let own = pieces.reduce(0) { $0 + (Self.lies($1, in: storage) ? $1.count : 0) }
            left[index] += own
            if left[index] * 2 >= storage.capacity, own * 4 >= storage.capacity {
                shared |= 1 << UInt64(index)
            }
        }
        for piece in pieces {
            guard let index = left.indices.first(where: { Self.lies(piece, in: storage(at: $0)) }) else {
                continue
            }
            queue(
                piece, notifications: notifications, in: storage(at: index),
                byReference: shared & 1 << UInt64(index) != 0, for: session)
            notifications = 0
        }
    }

    /// The storages that pieces lie in, in the order of `left`.
    private func storage(at index: Int) -> ByteStorage {
        switch index {
        case 0: notices.storage
        case 1: answers.storage
        default: externals[index - 2]
        }
    }

    private static func lies(_ piece: Piece, in storage: ByteStorage) -> Bool {
        piece.start >= UnsafeRawPointer(storage.base)
            && piece.start < UnsafeRawPointer(storage.base) + storage.capacity
    }

    func queue(
        _ piece: Piece, notifications: Int, in owner: ByteStorage, byReference: Bool, for session: Session
    ) {
        outbox(of: session).append(piece, notifications: notifications, in: owner, byReference: byReference)
        update(session)
    }

    func outbox(of session: Session) -> Outbox {
        if let outbox = session.outbox { return outbox }
        let outbox = Outbox(coalescing: sessions.outlets[Int(session.slot)].overflow == .coalesce, keys: keys)
        outbox.expectRest(of: session.ledger)
        session.outbox = outbox
        backlogged += 1
        return outbox
    }

    /// Takes over the outbox's size after a change, and lets go of an empty one.
    func update(_ session: Session) {
        guard let outbox = session.outbox else { return }
        let outlet = sessions.outlets + Int(session.slot)
        outlet.pointee.queued = outbox.bytes
        if outbox.isEmpty {
            session.outbox = nil
            backlogged -= 1
        }
    }

    /// Ends a flush. Everything noted was written or settled.
    func endFlush() {
        for index in 0..<touchedCount { sessions.outlets[Int(touched[index])].isTouched = false }
        touchedCount = 0
        notices.reset()
        answers.reset()
        left[0] = 0
        left[1] = 0
        if holdsExternal {
            externals.removeAll()
            left.removeLast(left.count - 2)
            holdsExternal = false
            externalBytes = 0
        }
    }
}
