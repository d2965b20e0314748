import WireProtocol

/// A hash of bytes that no client can foresee: its seed is drawn for each broker.
struct ByteHash {
    private let seed: UInt64

    init(seed: UInt64) {
        self.seed = seed
    }

    private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15

    @inline(__always)
    func callAsFunction(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let count = bytes.count
        var hash = seed ^ UInt64(truncatingIfNeeded: count)
        guard let start = bytes.baseAddress else { return Self.mix(hash, Self.factor) }
        var index = 0
        while count &- index >= 8 {
            hash = Self.mix(hash ^ start.loadUnaligned(fromByteOffset: index, as: UInt64.self), Self.factor)
            index &+= 8
        }
        if index < count {
            // The last eight bytes, some of them for the second time.
            let last =
                count >= 8
                ? start.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self) : Self.word(start, count)
            hash = Self.mix(hash ^ last, seed | 1)
        }
        return Self.mix(hash, seed ^ Self.factor)
    }

    /// The hash of the bytes that a text begins or ends with, of which there may be more and more.
    struct Growing {
        fileprivate var state: UInt64
        fileprivate var count = 0

        fileprivate init(_ seed: UInt64) { state = seed }
    }

    var growing: Growing { Growing(seed) }

    /// Each count must be at least the one before.
    @inline(__always)
    func hash(_ growing: inout Growing, ofFirst count: Int, of text: UnsafeRawBufferPointer) -> UInt64 {
        guard let start = text.baseAddress else { return finish(growing, 0, 0) }
        while count &- growing.count >= 8 {
            take(start.loadUnaligned(fromByteOffset: growing.count, as: UInt64.self), &growing)
        }
        let rest = count &- growing.count
        let place = start + growing.count
        // One load, where the text goes on that far.
        let last =
            text.count &- growing.count >= 8
            ? UInt64(littleEndian: place.loadUnaligned(as: UInt64.self)) & (1 &<< UInt64(rest &* 8) &- 1)
            : Self.word(place, rest)
        return finish(growing, last, count)
    }

    /// The same from the end.
    @inline(__always)
    func hash(_ growing: inout Growing, ofLast count: Int, of text: UnsafeRawBufferPointer) -> UInt64 {
        guard let start = text.baseAddress else { return finish(growing, 0, 0) }
        let end = start + text.count
        while count &- growing.count >= 8 {
            take((end - (growing.count &+ 8)).loadUnaligned(as: UInt64.self), &growing)
        }
        let rest = count &- growing.count
        let last =
            text.count &- growing.count >= 8 && rest > 0
            ? UInt64(littleEndian: (end - (growing.count &+ 8)).loadUnaligned(as: UInt64.self))
                &>> UInt64((8 &- rest) &* 8)
            : Self.word(end - count, rest)
        return finish(growing, last, count)
    }

    @inline(__always)
    private func take(_ word: UInt64, _ growing: inout Growing) {
        growing.state = Self.mix(growing.state ^ word, Self.factor)
        growing.count &+= 8
    }

    @inline(__always)
    private func finish(_ growing: Growing, _ last: UInt64, _ count: Int) -> UInt64 {
        Self.mix(growing.state ^ last, (seed ^ UInt64(truncatingIfNeeded: count) &* Self.factor) | 1)
    }

    /// Fewer than eight bytes.
    @inline(__always)
    private static func word(_ start: UnsafeRawPointer, _ count: Int) -> UInt64 {
        var word: UInt64 = 0
        for index in 0..<count {
            word |= UInt64(start.load(fromByteOffset: index, as: UInt8.self)) &<< UInt64(index &* 8)
        }
        return word
    }

    @inline(__always)
    static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}

/// A table from bytes to objects, looked up without a String, an array or a reference count.
///
/// Open addressing with linear probing; removal moves what follows back, so that there are no tombstones. A byte of each
/// hash stands in a line of its own: most keys that are not there are told by it, without a look at what is far apart. The
/// keys' hashes come from the caller, who may have them already.
final class ByteTable<Value: AnyObject> {
    private struct Slot {
        var hash: UInt64
        // SAFETY: the key's bytes belong to the slot, from `insert` to `remove`.
        var key: UnsafeMutableRawBufferPointer
        var value: Unmanaged<Value>?
    }

    private var slots: UnsafeMutablePointer<Slot>
    // SAFETY: as many as slots.
    /// 0 where the slot is empty.
    private var tags: UnsafeMutablePointer<UInt8>
    private var mask: Int
    private(set) var count = 0

    init() {
        (slots, tags) = Self.empty(8)
        mask = 7
    }

    deinit {
        for index in 0...mask { release(slots[index]) }
        slots.deallocate()
        tags.deallocate()
    }

    @inline(__always)
    private static func tag(_ hash: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: hash >> 56) | 1 }

    private static func empty(_ capacity: Int) -> (UnsafeMutablePointer<Slot>, UnsafeMutablePointer<UInt8>) {
        let slots = UnsafeMutablePointer<Slot>.allocate(capacity: capacity)
        slots.initialize(
            repeating: Slot(hash: 0, key: .init(start: nil, count: 0), value: nil), count: capacity)
        let tags = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        tags.initialize(repeating: 0, count: capacity)
        return (slots, tags)
    }

    private func release(_ slot: Slot) {
        guard let value = slot.value else { return }
        value.release()
        slot.key.deallocate()
    }

    /// The value of a key. The table keeps it alive until the key is removed.
    @inline(__always)
    func lookUp(_ key: UnsafeRawBufferPointer, hash: UInt64) -> Unmanaged<Value>? {
        place(of: key, hash: hash).flatMap { slots[$0].value }
    }

    @inline(__always)
    private func place(of key: UnsafeRawBufferPointer, hash: UInt64) -> Int? {
        let wanted = Self.tag(hash)
        var index = Int(truncatingIfNeeded: hash) & mask
        while true {
            let tag = tags[index]
            if tag == wanted, slots[index].hash == hash,
                equalBytes(UnsafeRawBufferPointer(slots[index].key), key)
            {
                return index
            }
            if tag == 0 { return nil }
            index = (index &+ 1) & mask
        }
    }

    func value(_ key: UnsafeRawBufferPointer, hash: UInt64) -> Value? {
        lookUp(key, hash: hash)?.takeUnretainedValue()
    }

    /// Adds a key that the table doesn't have.
    func insert(_ key: UnsafeRawBufferPointer, hash: UInt64, _ value: Value) {
        if (count + 1) * 2 > mask + 1 { resize((mask + 1) * 2) }
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: max(key.count, 1), alignment: 1)
        bytes.copyMemory(from: key)
        let exact = UnsafeMutableRawBufferPointer(start: bytes.baseAddress, count: key.count)
        place(Slot(hash: hash, key: exact, value: Unmanaged.passRetained(value)))
        count += 1
    }

    private func place(_ slot: Slot) {
        var index = Int(truncatingIfNeeded: slot.hash) & mask
        while tags[index] != 0 { index = (index &+ 1) & mask }
        slots[index] = slot
        tags[index] = Self.tag(slot.hash)
    }

    private func resize(_ capacity: Int) {
        let (oldSlots, oldTags) = (slots, tags)
        let oldCapacity = mask + 1
        (slots, tags) = Self.empty(capacity)
        mask = capacity - 1
        for index in 0..<oldCapacity where oldTags[index] != 0 { place(oldSlots[index]) }
        oldSlots.deallocate()
        oldTags.deallocate()
    }

    func remove(_ key: UnsafeRawBufferPointer, hash: UInt64) {
        guard let index = place(of: key, hash: hash) else { return }
        release(slots[index])
        close(hole: index)
        count -= 1
        if mask > 7, count * 8 < mask + 1 { resize((mask + 1) / 2) }
    }

    /// Moves what was pushed past the hole back to it.
    private func close(hole: Int) {
        var hole = hole
        var index = hole
        while true {
            index = (index &+ 1) & mask
            guard tags[index] != 0 else { break }
            let home = Int(truncatingIfNeeded: slots[index].hash) & mask
            if (index &- home) & mask >= (index &- hole) & mask {
                slots[hole] = slots[index]
                tags[hole] = tags[index]
                hole = index
            }
        }
        slots[hole].value = nil
        tags[hole] = 0
    }
}
