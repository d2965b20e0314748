/// What the broker has counted since its start.
final class Statistics {
    var posted: UInt64 = 0
    /// Notifications handed to the kernel whole.
    var delivered: UInt64 = 0
    /// Notifications told in gaps, or still queued for a connection that ended.
    var dropped: UInt64 = 0
    /// `error` answers.
    var rejected: UInt64 = 0
    var bytesIn: UInt64 = 0
    var bytesOut: UInt64 = 0
    var observers = 0
}

/// The names that are posted most, approximately: a fixed number of counters, and who comes new takes over the smallest
/// one with its count.
final class BusiestNames {
    private static let capacity = 256
    private var counts: [[UInt8]: UInt64] = [:]

    /// Whether somebody asked: before, nothing is counted.
    private(set) var isCounting = false

    func start() {
        isCounting = true
    }

    @inline(never)
    func count(_ bytes: UnsafeRawBufferPointer) {
        let name = [UInt8](bytes)

        if let known = counts[name] {
            counts[name] = known + 1
        } else if counts.count < Self.capacity {
            counts[name] = 1
        } else if let smallest = counts.min(by: { $0.value < $1.value }) {
            counts[smallest.key] = nil
            counts[name] = smallest.value + 1
        }
    }

    /// The first ones, the busiest first.
    func top(_ limit: Int) -> [(name: [UInt8], count: UInt64)] {
        counts.sorted { $0.value > $1.value }.prefix(limit).map { (name: $0.key, count: $0.value) }
    }
}
