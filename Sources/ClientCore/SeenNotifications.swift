/// Which notifications an observer has seen from one instance of the broker, told exactly enough to know a
/// retained one that comes again after a reconnection.
///
/// On each connection what is retained comes in the order of `seq`, and so does what is live; everything
/// retained was posted before the observation began, everything live after it. So what was seen is all that
/// matches up to `retainedThrough`, and all that matches in the stretch of live ones of each connection. The
/// stretch's start is the first live one that came: one before it that matches would have come too.
struct SeenNotifications: Sendable {
    private static let stretchesKept = 16

    private var retainedThrough: UInt64 = 0
    private var stretches: [ClosedRange<UInt64>] = []
    private var current: ClosedRange<UInt64>?

    mutating func sawLive(_ seq: UInt64) {
        guard let stretch = current else {
            current = seq...seq
            return
        }
        current = min(stretch.lowerBound, seq)...max(stretch.upperBound, seq)
    }

    /// Whether this one is new to the observer.
    mutating func sawRetained(_ seq: UInt64) -> Bool {
        let isNew = seq > retainedThrough && !stretches.contains { $0.contains(seq) }
        retainedThrough = max(retainedThrough, seq)
        stretches.removeAll { $0.upperBound <= retainedThrough }
        return isNew
    }

    /// A forgotten stretch costs at worst one retained notification seen twice.
    mutating func connectionEnded() {
        guard let stretch = current else { return }
        current = nil
        if stretches.count == Self.stretchesKept {
            stretches.removeFirst()
        }
        stretches.append(stretch)
    }
}
