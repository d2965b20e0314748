import WireProtocol

/// The connections that have at least one observer of one kind, each once, with the number of those observers.
///
/// A post walks `slots` directly; the order is of no meaning.
final class ReceiverSet {
    private(set) var slots: UnsafeMutablePointer<Int32>
    private var counts: UnsafeMutablePointer<Int32>
    private(set) var count = 0
    private var capacity = 2

    init() {
        slots = .allocate(capacity: capacity)
        counts = .allocate(capacity: capacity)
    }

    deinit {
        slots.deallocate()
        counts.deallocate()
    }

    var isEmpty: Bool { count == 0 }

    private func index(of slot: Int32) -> Int? {
        var index = count
        while index > 0 {
            index -= 1
            if slots[index] == slot { return index }
        }
        return nil
    }

    func add(_ slot: Int32) {
        if let index = index(of: slot) {
            counts[index] += 1
            return
        }
        if count == capacity { grow() }
        slots[count] = slot
        counts[count] = 1
        count += 1
    }

    private func grow() {
        let doubled = capacity * 2
        let moreSlots = UnsafeMutablePointer<Int32>.allocate(capacity: doubled)
        let moreCounts = UnsafeMutablePointer<Int32>.allocate(capacity: doubled)
        moreSlots.update(from: slots, count: count)
        moreCounts.update(from: counts, count: count)
        slots.deallocate()
        counts.deallocate()
        slots = moreSlots
        counts = moreCounts
        capacity = doubled
    }

    func remove(_ slot: Int32) {
        guard let index = index(of: slot) else { return }
        counts[index] -= 1
        if counts[index] > 0 { return }
        count -= 1
        slots[index] = slots[count]
        counts[index] = counts[count]
    }
}

/// The observers of one name, of one glob, or of everything: those of any object, and those of one object each.
final class ObserverGroup {
    let anyObject = ReceiverSet()
    private(set) var byObject: ByteTable<ReceiverSet>?

    var isEmpty: Bool { anyObject.isEmpty && byObject == nil }

    func add(_ slot: Int32, object: [UInt8]?, hash: ByteHash) {
        guard let object else { return anyObject.add(slot) }
        let table = byObject ?? ByteTable()
        byObject = table
        object.withUnsafeBytes { bytes in
            let hash = hash(bytes)
            if let set = table.value(bytes, hash: hash) { return set.add(slot) }
            let set = ReceiverSet()
            set.add(slot)
            table.insert(bytes, hash: hash, set)
        }
    }

    func remove(_ slot: Int32, object: [UInt8]?, hash: ByteHash) {
        guard let object else { return anyObject.remove(slot) }
        guard let table = byObject else { return }
        object.withUnsafeBytes { bytes in
            let hash = hash(bytes)
            guard let set = table.value(bytes, hash: hash) else { return }
            set.remove(slot)
            if set.isEmpty { table.remove(bytes, hash: hash) }
        }
        if table.count == 0 { byObject = nil }
    }
}
