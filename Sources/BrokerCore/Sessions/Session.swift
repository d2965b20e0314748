import WireProtocol

/// Who is at the other end, as the kernel reported it at connect.
package struct Credentials: Hashable, Sendable {
    package var pid: Int32
    package var uid: UInt32
    package var gid: UInt32

    package init(pid: Int32, uid: UInt32, gid: UInt32) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
    }
}

/// One connection: what it has said, what it observes, what it still has to be sent.
final class Session {
    /// How a connection ends. While it is open frames are processed; afterwards only what is queued is written, until the
    /// deadline.
    enum State {
        case open
        /// The client ended its side: what is queued is still written.
        case draining(until: UInt64)
        /// A goodbye is the last thing that is queued.
        case leaving(until: UInt64)
        case ended
    }

    let slot: Int32
    let sender: NotificationEncoder.Sender
    /// Whether it is another user than the broker's own and root.
    let isForeign: Bool
    var clientName: [UInt8]?
    var state = State.open
    var hasSpoken = false

    let decoder: FrameDecoder
    /// When the frame under way must be complete.
    var frameDeadline: UInt64?
    /// What was left of the frame's time when the broker stopped reading.
    var frameTimeLeft: UInt64?

    private(set) var observers: [[UInt8]: Observation] = [:]
    /// How many observers have each policy.
    private var policies: [Overflow: Int] = [:]
    var awaiting = 0

    /// Ranges noted before the outlet's open one.
    var pieces: [Piece] = []
    var outbox: Outbox?
    var ledger = FrameLedger()

    /// The full queues for which this client is not read.
    var blockedOn: [Int32] = [] {
        didSet { isPaused = !blockedOn.isEmpty }
    }
    /// Whether it is not read because of a full queue.
    private(set) var isPaused = false
    /// Some of the receivers of its last post: the first, one in the middle, the last.
    var recentReceivers: (Int32, Int32, Int32) = (-1, -1, -1)
    /// How many receivers its last post had.
    var recentCount = 0
    /// The blocked receiver for which it is not read for a moment, and until when; -1 for none.
    var easedOn: Int32 = -1
    var easedUntil: UInt64 = 0
    /// Whether it has sent bytes that wait while it is not read.
    var hasSentMore = false
    /// The clients that are not read because this connection's queue is full.
    var waiters: [Int32] = []
    /// When the kernel last took something, and since when a waiter has had more to say.
    var lastProgress: UInt64 = 0
    var pressureSince: UInt64?
    /// What the kernel held for the client at the last look.
    var kernelHeld = -1
    /// Whether the broker's clock has to look at it.
    var isTimed = false

    var posted: UInt64 = 0
    var delivered: UInt64 = 0

    init(slot: Int32, sender: NotificationEncoder.Sender, isForeign: Bool, frameLimit: Int) {
        self.slot = slot
        self.sender = sender
        self.isForeign = isForeign
        decoder = FrameDecoder(limit: frameLimit)
    }

    var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    var isEased: Bool { easedOn >= 0 }

    /// One connection has one queue: the most lossless policy of its observers holds.
    var effectiveOverflow: Overflow {
        policies.keys.min() ?? .wait
    }

    func add(_ observation: Observation, label: [UInt8]) {
        observers[label] = observation
        policies[observation.overflow, default: 0] += 1
    }

    func removeObserver(_ label: [UInt8]) -> Observation? {
        guard let observation = observers.removeValue(forKey: label) else { return nil }
        let left = (policies[observation.overflow] ?? 0) - 1
        policies[observation.overflow] = left > 0 ? left : nil
        return observation
    }

    func removeAllObservers() -> [Observation] {
        defer {
            observers = [:]
            policies = [:]
        }
        return Array(observers.values)
    }
}
