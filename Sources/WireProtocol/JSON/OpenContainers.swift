/// Which of the open containers are objects, one bit each. Its depth limit is far below what fits.
struct OpenContainers {
    private var bits: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    private(set) var count = 0

    /// The deepest nesting that fits.
    static let capacity = 256

    @inline(always) var innermostIsObject: Bool { bits.0 & 1 == 1 }

    @inline(always)
    mutating func push(isObject: Bool) {
        if count >= 64 { carryUp() }
        bits.0 = bits.0 << 1 | (isObject ? 1 : 0)
        count += 1
    }

    @inline(always)
    mutating func pop() {
        bits.0 >>= 1
        if count > 64 { carryDown() }
        count -= 1
    }

    @inline(never)
    private mutating func carryUp() {
        bits.3 = bits.3 << 1 | bits.2 >> 63
        bits.2 = bits.2 << 1 | bits.1 >> 63
        bits.1 = bits.1 << 1 | bits.0 >> 63
    }

    @inline(never)
    private mutating func carryDown() {
        bits.0 |= (bits.1 & 1) << 63
        bits.1 = bits.1 >> 1 | bits.2 << 63
        bits.2 = bits.2 >> 1 | bits.3 << 63
        bits.3 >>= 1
    }
}
