import WireProtocol

extension Broker {
    /// When `tick` must be called, unless it is nil.
    package var deadline: UInt64? {
        guard let ease = pressure.easeDeadline else { return nextCheck }
        return min(ease, nextCheck ?? ease)
    }

    func watch(_ session: Session, until time: UInt64) {
        if !session.isTimed {
            session.isTimed = true
            timed.append(session.slot)
        }
        nextCheck = min(nextCheck ?? time, time)
    }

    func lookAgainSoon() {
        if let look = pressure.nextLook(after: now.monotonic) { nextCheck = min(nextCheck ?? look, look) }
    }

    /// Acts on what is due. `kernelHeld` tells how many bytes the kernel still holds for a connection's client.
    package func tick(kernelHeld: (Int32) -> Int) {
        pressure.endEase(at: monotonic)
        guard let due = nextCheck, monotonic >= due else { return }
        nextCheck = nil
        let watched = timed
        timed = []
        for slot in watched {
            guard let session = sessions[slot], session.isTimed else { continue }
            session.isTimed = false
            expire(session)
        }
        for receiver in pressure.overdue(now: now.monotonic, kernelHeld: kernelHeld) { cut(receiver) }
        lookAgainSoon()
    }

    private func expire(_ session: Session) {
        switch session.state {
        case .ended: return
        case .draining(let deadline), .leaving(let deadline):
            if now.monotonic >= deadline { end(session) } else { watch(session, until: deadline) }
        case .open:
            guard let deadline = session.frameDeadline else { return }
            if now.monotonic < deadline { return watch(session, until: deadline) }
            let seconds = Self.seconds(configuration.frameTimeout)
            fail(
                session,
                ProtocolError(
                    .frameTimeout,
                    "a frame was not complete \(seconds) s after its first byte: \(session.decoder.buffered) bytes of it came"
                ))
        }
    }

    private func cut(_ session: Session) {
        let queued = sessions.outlets[Int(session.slot)].pending
        events.append(.cut(session.slot, queuedBytes: queued))
        say(
            .slowReceiver,
            "the connection took nothing for \(Self.seconds(configuration.patience)) s while senders waited for it, with \(queued) bytes queued",
            to: session, dropping: true)
    }

    /// Seconds with at most three decimals.
    private static func seconds(_ nanoseconds: UInt64) -> String {
        let thousandths = nanoseconds / 1_000_000
        let (whole, rest) = thousandths.quotientAndRemainder(dividingBy: 1000)
        if rest == 0 { return "\(whole)" }
        var digits = String(rest + 1000).dropFirst()
        while digits.last == "0" { digits.removeLast() }
        return "\(whole).\(digits)"
    }
}
