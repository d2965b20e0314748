import WireProtocol

/// Who waits for whom: the clients that are not read because they filled a queue, and the receivers that are given a limited
/// time to take something.
///
/// A sender is paused on each queue that its post put over its limit, and read again when each has been below half once. It
/// can be paused on its own queue. A receiver is overdue when the kernel has taken nothing of its for the patience time while
/// a sender that has more to say was paused for it.
///
/// Before all that, a sender is *eased*: when the kernel has just refused bytes of a receiver that wants everything, its sender
/// is not read for a moment, so that what the two exchange stays in the processor's caches instead of filling the queue.
/// That lasts until the receiver has caught up, or some milliseconds after it was blocked: a stuck one delays nobody for longer.
final class Backpressure {
    private let sessions: SessionTable
    private let patience: UInt64
    private let queueLimit: Int
    /// The receivers with waiters.
    private var congested: [Int32] = []
    // SAFETY: none of these, which each turn asks for, is read or changed while it is being changed.
    /// Those that were paused and may be read again.
    @exclusivity(unchecked) private(set) var resumed: [Int32] = []
    @exclusivity(unchecked) private var eased: [Int32] = []
    @exclusivity(unchecked) private var newlyEased: [Int32] = []

    /// How long a moment is: longer for a sender with many receivers, which need time to be scheduled one after the other.
    private static func easeTime(receivers: Int) -> UInt64 {
        5_000_000 + UInt64(min(receivers, 200)) * 200_000
    }

    init(sessions: SessionTable, patience: UInt64, queueLimit: Int) {
        self.sessions = sessions
        self.patience = patience
        self.queueLimit = queueLimit
    }

    func pause(_ sender: Session, on receiver: Session, now: UInt64) {
        if sender.blockedOn.contains(receiver.slot) { return }
        sender.blockedOn.append(receiver.slot)
        if receiver.waiters.isEmpty {
            congested.append(receiver.slot)
            receiver.pressureSince = nil
            receiver.kernelHeld = -1
        }
        receiver.waiters.append(sender.slot)
        if sender.hasSentMore { press(receiver, now: now) }
    }

    private func press(_ receiver: Session, now: UInt64) {
        if receiver.pressureSince == nil { receiver.pressureSince = now }
    }

    /// A paused client has more to say.
    func noteMore(from sender: Session, now: UInt64) {
        sender.hasSentMore = true
        for slot in sender.blockedOn {
            if let receiver = sessions[slot] { press(receiver, now: now) }
        }
    }

    /// The queue may have become shorter: lets its waiters go on if it is below half.
    @inline(__always)
    func relax(_ receiver: Session) {
        if receiver.waiters.isEmpty { return }
        if sessions.outlets[Int(receiver.slot)].pending * 2 < queueLimit { release(receiver) }
    }

    /// Lets all who wait for a queue go on.
    func release(_ receiver: Session) {
        guard !receiver.waiters.isEmpty else { return }
        for slot in receiver.waiters {
            guard let sender = sessions[slot] else { continue }
            sender.blockedOn.removeAll { $0 == receiver.slot }
            if sender.blockedOn.isEmpty { resumed.append(slot) }
        }
        receiver.waiters.removeAll()
        receiver.pressureSince = nil
        congested.removeAll { $0 == receiver.slot }
    }

    /// Does not read a sender for a moment, if one of its receivers was blocked only just now. A few of them stand for all.
    func easeIfBlocked(_ sender: Session, now: UInt64) {
        guard !sender.isEased, let until = freshlyBlocked(sender, now: now) else { return }
        sender.easedUntil = until
        eased.append(sender.slot)
        newlyEased.append(sender.slot)
    }

    func takeNewlyEased() -> [Int32] {
        if newlyEased.isEmpty { return [] }
        defer { newlyEased.removeAll() }
        return newlyEased
    }

    /// Sets on whom a sender waits a moment; answers until when, or nil if it needn't.
    private func freshlyBlocked(_ sender: Session, now: UInt64) -> UInt64? {
        let (first, middle, last) = sender.recentReceivers
        let time = Self.easeTime(receivers: sender.recentCount)
        for slot in [last, middle, first] where slot >= 0 {
            let outlet = sessions.outlets + Int(slot)
            let until = outlet.pointee.blockedSince + time
            if outlet.pointee.isBlocked, outlet.pointee.overflow == .wait, now < until {
                sender.easedOn = slot
                return until
            }
        }
        sender.easedOn = -1
        return nil
    }

    /// A receiver has caught up: its senders go on, unless another one of theirs is blocked.
    func endEase(on receiver: Int32, now: UInt64) {
        if eased.isEmpty { return }
        endEase { sender in
            if sender.easedOn != receiver { return false }
            guard let until = freshlyBlocked(sender, now: now) else { return true }
            sender.easedUntil = until
            return false
        }
    }

    /// Lets those go on whose moment is over.
    func endEase(at now: UInt64) {
        if eased.isEmpty { return }
        endEase { now >= $0.easedUntil }
    }

    private func endEase(_ isOver: (Session) -> Bool) {
        var left: [Int32] = []
        for slot in eased {
            guard let sender = sessions[slot], sender.isEased else { continue }
            if isOver(sender) {
                sender.easedOn = -1
                resumed.append(slot)
            } else {
                left.append(slot)
            }
        }
        eased = left
    }

    /// When the first moment is over.
    var easeDeadline: UInt64? {
        eased.isEmpty ? nil : eased.compactMap { sessions[$0]?.easedUntil }.min()
    }

    /// A client ended: it waits for nobody any more.
    func forget(_ sender: Session) {
        for slot in sender.blockedOn {
            guard let receiver = sessions[slot] else { continue }
            receiver.waiters.removeAll { $0 == sender.slot }
            if receiver.waiters.isEmpty {
                receiver.pressureSince = nil
                congested.removeAll { $0 == slot }
            } else if !receiver.waiters.contains(where: { sessions[$0]?.hasSentMore ?? false }) {
                receiver.pressureSince = nil
            }
        }
        sender.blockedOn.removeAll()
    }

    func takeResumed() -> [Int32] {
        defer { resumed.removeAll() }
        return resumed
    }

    /// When the congested receivers are to be looked at next.
    func nextLook(after now: UInt64) -> UInt64? {
        congested.contains { sessions[$0]?.pressureSince != nil } ? now + max(patience / 8, 10_000_000) : nil
    }

    /// The receivers whose patience is over. `kernelHeld` tells how much the kernel still holds for a connection: if that
    /// shrinks the client reads, however little.
    func overdue(now: UInt64, kernelHeld: (Int32) -> Int) -> [Session] {
        congested.compactMap { slot in
            guard let receiver = sessions[slot], let since = receiver.pressureSince else { return nil }
            let held = kernelHeld(slot)
            if receiver.kernelHeld >= 0, held < receiver.kernelHeld { receiver.lastProgress = now }
            receiver.kernelHeld = held
            return now >= max(since, receiver.lastProgress) + patience ? receiver : nil
        }
    }
}
