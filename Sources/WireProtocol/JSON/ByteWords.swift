/// Equality of short texts: eight bytes at a time, without a call.
@inlinable @inline(always)
package func equalBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard left.count == right.count else { return false }
    guard let one = left.baseAddress, let other = right.baseAddress else { return left.count == 0 }
    return equalBytes(one, other, left.count)
}

/// The same where both texts are known to have so many bytes.
@inlinable @inline(always)
package func equalBytes(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Bool {
    var index = 0
    while index &+ 8 <= count {
        if left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            != right.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        {
            return false
        }
        index &+= 8
    }
    if index < count, count >= 8 {
        // The last eight bytes, some of them for the second time.
        return left.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
            == right.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
    }
    while index < count {
        if left.load(fromByteOffset: index, as: UInt8.self)
            != right.load(fromByteOffset: index, as: UInt8.self)
        {
            return false
        }
        index &+= 1
    }
    return true
}

/// Whether `mark` sets the highest bit of any byte of a text. It is given eight bytes at a time, some of them twice, or
/// letters with them.
@inline(always)
func anyMarked(_ text: UnsafeRawBufferPointer, _ mark: (UInt64) -> UInt64) -> Bool {
    guard let start = text.baseAddress else { return false }
    var found: UInt64 = 0
    if text.count >= 8 {
        var index = 0
        while index &+ 8 <= text.count {
            found |= mark(start.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index &+= 8
        }
        found |= mark(start.loadUnaligned(fromByteOffset: text.count &- 8, as: UInt64.self))
    } else if text.count >= 4 {
        let first = start.loadUnaligned(as: UInt32.self)
        let last = start.loadUnaligned(fromByteOffset: text.count &- 4, as: UInt32.self)
        found = mark(UInt64(first) << 32 | UInt64(last))
    } else {
        var bytes: UInt64 = 0x6161_6161_6161_6161
        for byte in text { bytes = bytes << 8 | UInt64(byte) }
        found = mark(bytes)
    }
    return found & 0x8080_8080_8080_8080 != 0
}
