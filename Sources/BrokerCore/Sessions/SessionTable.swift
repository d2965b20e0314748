import WireProtocol

/// The connections, each at a slot that posts refer to it by.
final class SessionTable {
    // SAFETY: no access reaches beyond the expression that it stands in, so none can overlap another.
    @exclusivity(unchecked) private(set) var sessions: [Session?] = []
    private var free: [Int32] = []
    private(set) var count = 0
    private var nextNumber: UInt64 = 1
    private var capacity = 16

    // SAFETY: there is one of both for each slot that was ever given out; it is reset when the slot is given out again.
    private(set) var outlets: UnsafeMutablePointer<Outlet>
    private(set) var losses: UnsafeMutablePointer<Losses>

    init() {
        outlets = .allocate(capacity: capacity)
        outlets.initialize(repeating: Outlet(), count: capacity)
        losses = .allocate(capacity: capacity)
        losses.initialize(repeating: Losses(), count: capacity)
    }

    deinit {
        outlets.deallocate()
        losses.deallocate()
    }

    /// How many slots there are.
    var slotCount: Int { sessions.count }

    @inline(__always)
    subscript(_ slot: Int32) -> Session? {
        let index = Int(slot)
        return index >= 0 && index < sessions.count ? sessions[index] : nil
    }

    func add(_ credentials: Credentials, isForeign: Bool, frameLimit: Int) -> Session {
        let slot = free.popLast() ?? Int32(sessions.count)
        if Int(slot) == sessions.count { sessions.append(nil) }
        if sessions.count > capacity { grow() }
        outlets[Int(slot)] = Outlet()
        losses[Int(slot)] = Losses()
        let sender = NotificationEncoder.Sender(
            connection: nextNumber, pid: credentials.pid, uid: credentials.uid, gid: credentials.gid)
        nextNumber += 1
        let session = Session(slot: slot, sender: sender, isForeign: isForeign, frameLimit: frameLimit)
        sessions[Int(slot)] = session
        count += 1
        return session
    }

    private func grow() {
        outlets = doubled(outlets, Outlet())
        losses = doubled(losses, Losses())
        capacity *= 2
    }

    private func doubled<Element>(
        _ old: UnsafeMutablePointer<Element>, _ fresh: Element
    ) -> UnsafeMutablePointer<Element> {
        let more = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
        more.initialize(repeating: fresh, count: capacity * 2)
        more.update(from: old, count: capacity)
        old.deallocate()
        return more
    }

    func remove(_ slot: Int32) {
        sessions[Int(slot)] = nil
        free.append(slot)
        count -= 1
    }
}
