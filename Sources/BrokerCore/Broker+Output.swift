extension Broker {
    /// How many connections a flush must visit; that may become more on the way.
    package var touchedCount: Int { delivery.touchedCount }
    package func touched(at index: Int) -> Int32 { delivery.touched[index] }

    package func gather(_ slot: Int32, _ pieces: UnsafeMutableBufferPointer<Piece>) -> Int {
        delivery.gather(slot, pieces)
    }

    /// The kernel took `count` bytes of what was gathered.
    package func wrote(_ slot: Int32, _ count: Int) {
        delivery.wrote(slot, count)
        guard let session = sessions[slot] else { return }
        session.lastProgress = now.monotonic
        tellMissing(slot)
        pressure.relax(session)
    }

    /// Whether a connection's kernel buffer is full.
    package func setBlocked(_ slot: Int32, _ isBlocked: Bool) {
        let outlet = sessions.outlets + Int(slot)
        if isBlocked, !outlet.pointee.isBlocked { outlet.pointee.blockedSince = monotonic }
        outlet.pointee.isBlocked = isBlocked
    }

    package func isBlocked(_ slot: Int32) -> Bool { sessions.outlets[Int(slot)].isBlocked }

    package func settle(_ slot: Int32) {
        delivery.settle(slot)
        guard let session = sessions[slot] else { return }
        if !sessions.outlets[Int(slot)].isBlocked { pressure.endEase(on: slot, now: monotonic) }
        endIfWritten(session)
    }

    package func endFlush() {
        delivery.endFlush()
        for slot in readers {
            if let session = sessions[slot], session.isOpen {
                pressure.easeIfBlocked(session, now: monotonic)
            }
        }
        readers.removeAll(keepingCapacity: true)
    }

    package func queuedBytes(_ slot: Int32) -> Int { sessions.outlets[Int(slot)].pending }

    /// The client takes nothing any more. What it sent is still processed.
    package func endOutput(_ slot: Int32) {
        guard let session = sessions[slot] else { return }
        delivery.close(session)
        retire(session)
        endIfWritten(session)
    }
}
