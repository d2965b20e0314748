import WireProtocol

extension Broker {
    /// Takes a connection out of all that others see: its observers, its waits, those who wait for its queue.
    func retire(_ session: Session) {
        removeAllObservers(of: session)
        if session.awaiting > 0 { router.removeAwaiters(of: session.slot) }
        session.awaiting = 0
        pressure.release(session)
    }

    func endIfWritten(_ session: Session) {
        switch session.state {
        case .open, .ended: return
        case .draining, .leaving:
            let outlet = sessions.outlets[Int(session.slot)]
            if outlet.pending == 0, session.outbox == nil || outlet.isClosed { end(session) }
        }
    }

    func end(_ session: Session) {
        if case .ended = session.state { return }
        session.state = .ended
        retire(session)
        pressure.forget(session)
        delivery.close(session)
        access.leave(session.sender.uid)
        ended.append(session.slot)
    }

    /// Ends a connection with an error that names its fault, and a goodbye.
    func fail(_ session: Session, _ error: ProtocolError) {
        refuse(session, id: nil, error)
        say(.protocolError, error.message, to: session, dropping: false)
    }

    /// Says goodbye: the last that a client hears. It has a second to take it.
    func say(
        _ reason: GoodbyeReason, _ message: String, to session: Session, dropping: Bool,
        within time: UInt64 = 1_000_000_000
    ) {
        if case .leaving = session.state { return }
        if case .ended = session.state { return }
        retire(session)
        if dropping { delivery.discard(session) }
        tellMissing(session.slot, always: true)
        delivery.dropReplays(session)
        delivery.send(Self.goodbye(reason, message), to: session.slot)
        pressure.forget(session)
        session.decoder.reset()
        session.state = .leaving(until: now.monotonic + time)
        if dropping, sessions.outlets[Int(session.slot)].isBlocked { leaving.append(session.slot) }
        watch(session, until: now.monotonic + time)
    }

    static func goodbye(_ reason: GoodbyeReason, _ message: String) -> [UInt8] {
        var frame = FrameWriter("goodbye")
        frame.member("reason", reason.rawValue)
        frame.member("message", message)
        return frame.finish()
    }

    /// Begins the end of the broker: what is queued is still written, and a goodbye behind it.
    package func stop(within time: UInt64) {
        isStopping = true
        for case let session? in sessions.sessions {
            say(.shuttingDown, "the broker is shutting down", to: session, dropping: false, within: time)
        }
    }

}
