import WireProtocol

/// Memory that all deliveries of one flush share: each notification is written to it once, and each receiver notes a range.
///
/// After the flush it is used again from its start, unless a queue holds on to it; then fresh memory takes its place.
final class TurnSegment {
    private(set) var storage: ByteStorage
    private(set) var used = 0
    private var spares: [ByteStorage] = []
    private var lent: [ByteStorage] = []

    /// How much memory is kept for use again.
    private static let spareCount = 4

    init(capacity: Int) {
        storage = ByteStorage(capacity: capacity)
    }

    @inline(__always) var end: UnsafeMutableRawPointer { storage.base + used }
    @inline(__always) var room: Int { storage.capacity &- used }

    @inline(__always)
    func advance(_ count: Int) {
        used &+= count
    }

    /// Makes it empty; what queues hold is left to them.
    func reset() {
        if used == 0 { return }
        used = 0
        if isKnownUniquelyReferenced(&storage) { return }
        lent.append(storage)
        reclaim()
        storage = spares.popLast() ?? ByteStorage(capacity: storage.capacity)
    }

    private func reclaim() {
        var index = 0
        while index < lent.count {
            if isKnownUniquelyReferenced(&lent[index]) {
                let free = lent.remove(at: index)
                if spares.count < Self.spareCount { spares.append(free) }
            } else {
                index += 1
            }
        }
    }
}
