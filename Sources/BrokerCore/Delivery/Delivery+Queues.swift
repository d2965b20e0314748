import WireProtocol

/// What the broker decides about a connection's queue.
extension Delivery {
    func append(_ replay: Replay, to session: Session) {
        settle(session.slot)
        outbox(of: session).append(
            replay, coalescing: sessions.outlets[Int(session.slot)].overflow == .coalesce)
        touch(sessions.outlets + Int(session.slot), session.slot)
    }

    func setOverflow(_ overflow: Overflow, of session: Session) {
        let outlet = sessions.outlets + Int(session.slot)
        let wasCoalescing = outlet.pointee.overflow == .coalesce
        outlet.pointee.overflow = overflow
        guard wasCoalescing != (overflow == .coalesce), let outbox = session.outbox else { return }
        settle(session.slot)
        outbox.setCoalescing(overflow == .coalesce, session.ledger)
        update(session)
    }

    /// Makes room for `size` bytes by the policy `coalesce`.
    func coalesce(_ session: Session, makingRoomFor size: Int) {
        settle(session.slot)
        guard let outbox = session.outbox else { return }
        countDropped(session.slot, outbox.shrink(to: max(0, queueLimit - size)))
        update(session)
    }

    func countDropped(_ slot: Int32, _ count: Int) {
        sessions.losses[Int(slot)].dropped &+= UInt64(count)
        statistics.dropped &+= UInt64(count)
    }

    func dropReplays(_ session: Session) {
        session.outbox?.dropReplays()
        update(session)
    }

    /// Forgets all that a connection was to be sent, but for the rest of the frame under way.
    func discard(_ session: Session) {
        settle(session.slot)
        guard let outbox = session.outbox else { return }
        countDropped(session.slot, outbox.discard(keeping: session.ledger))
        update(session)
    }

    /// Nothing more can be written to a connection.
    func close(_ session: Session) {
        settle(session.slot)
        let outlet = sessions.outlets + Int(session.slot)
        if let outbox = session.outbox {
            countDropped(session.slot, outbox.notifications)
            session.outbox = nil
            backlogged -= 1
        }
        outlet.pointee.queued = 0
        outlet.pointee.isClosed = true
    }

    var queuedBytes: Int {
        (0..<sessions.slotCount).reduce(0) { sum, slot in
            sessions.sessions[slot] == nil ? sum : sum + sessions.outlets[slot].pending
        }
    }
}
