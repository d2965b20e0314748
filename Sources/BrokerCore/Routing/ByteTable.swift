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
        var hash = seed ^ UInt64(truncatingIfNeeded: bytes.count)
        guard var position = bytes.baseAddress else { return Self.mix(hash, Self.factor) }
        var left = bytes.count
        while left >= 8 {
            hash = Self.mix(hash ^ position.loadUnaligned(as: UInt64.self), Self.factor)
            position += 8
            left -= 8
        }
        if left > 0 {
            var tail: UInt64 = 0
            for index in 0..<left {
                tail |= UInt64(position.load(fromByteOffset: index, as: UInt8.self)) << UInt64(index &* 8)
            }
            hash = Self.mix(hash ^ tail, seed | 1)
        }
        return Self.mix(hash, seed ^ Self.factor)
    }

    @inline(__always)
    static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }

    /// The hash of a prefix that grows a byte at a time.
    @inline(__always)
    func extend(_ hash: UInt64, by byte: UInt8) -> UInt64 {
        (hash ^ UInt64(byte) ^ seed) &* 0x0000_0100_0000_01B3 ^ (hash >> 47)
    }
}

/// A table from bytes to objects, looked up without a String, an array or a reference count.
///
/// Open addressing with linear probing; removal moves what follows back, so that there are no tombstones. The keys' hashes
/// come from the caller, who may have them already.
final class ByteTable<Value: AnyObject> {
    private struct Slot {
        var hash: UInt64
        // SAFETY: the key's bytes belong to the slot, from `insert` to `remove`.
        var key: UnsafeMutableRawBufferPointer
        var value: Unmanaged<Value>?
    }

    private var slots: UnsafeMutablePointer<Slot>
    private var mask: Int
    private(set) var count = 0

    init() {
        slots = Self.empty(8)
        mask = 7
    }

    deinit {
        for index in 0...mask { release(slots[index]) }
        slots.deallocate()
    }

    private static func empty(_ capacity: Int) -> UnsafeMutablePointer<Slot> {
        let slots = UnsafeMutablePointer<Slot>.allocate(capacity: capacity)
        slots.initialize(
            repeating: Slot(hash: 0, key: .init(start: nil, count: 0), value: nil), count: capacity)
        return slots
    }

    private func release(_ slot: Slot) {
        guard let value = slot.value else { return }
        value.release()
        slot.key.deallocate()
    }

    /// The value of a key. The table keeps it alive until the key is removed.
    @inline(__always)
    func lookUp(_ key: UnsafeRawBufferPointer, hash: UInt64) -> Unmanaged<Value>? {
        var index = Int(truncatingIfNeeded: hash) & mask
        while let value = slots[index].value {
            if slots[index].hash == hash, equalBytes(UnsafeRawBufferPointer(slots[index].key), key) {
                return value
            }
            index = (index &+ 1) & mask
        }
        return nil
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
        while slots[index].value != nil { index = (index &+ 1) & mask }
        slots[index] = slot
    }

    private func resize(_ capacity: Int) {
        let old = slots
        let oldCapacity = mask + 1
        slots = Self.empty(capacity)
        mask = capacity - 1
        for index in 0..<oldCapacity where old[index].value != nil { place(old[index]) }
        old.deallocate()
    }

    func remove(_ key: UnsafeRawBufferPointer, hash: UInt64) {
        var index = Int(truncatingIfNeeded: hash) & mask
        while slots[index].value != nil {
            if slots[index].hash == hash, equalBytes(UnsafeRawBufferPointer(slots[index].key), key) {
                release(slots[index])
                close(hole: index)
                count -= 1
                if mask > 7, count * 8 < mask + 1 { resize((mask + 1) / 2) }
                return
            }
            index = (index &+ 1) & mask
        }
    }

    /// Moves what was pushed past the hole back to it.
    private func close(hole: Int) {
        var hole = hole
        var index = hole
        while true {
            index = (index &+ 1) & mask
            guard slots[index].value != nil else { break }
            let home = Int(truncatingIfNeeded: slots[index].hash) & mask
            if (index &- home) & mask >= (index &- hole) & mask {
                slots[hole] = slots[index]
                hole = index
            }
        }
        slots[hole].value = nil
    }
}
