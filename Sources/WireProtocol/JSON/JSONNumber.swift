/// Numbers of the protocol, as bytes.
package enum JSONNumber {
    /// The value of a number that is written with digits only and fits.
    package static func unsigned(_ raw: UnsafeRawBufferPointer) -> UInt64? {
        guard let first = raw.first, first != 0x30 || raw.count == 1 else { return nil }
        var value: UInt64 = 0
        for byte in raw {
            guard byte &- 0x30 < 10 else { return nil }
            let (tenfold, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tenfold.addingReportingOverflow(UInt64(byte &- 0x30))
            if overflow || carry { return nil }
            value = sum
        }
        return value
    }

    /// Writes the last `digits` digits of a number; answers what is in front of them.
    @inlinable @inline(always)
    package static func write(_ value: UInt64, digits: Int, to start: UnsafeMutableRawPointer) -> UInt64 {
        var rest = value
        var index = digits
        while index > 0 {
            index &-= 1
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            start.storeBytes(
                of: UInt8(truncatingIfNeeded: digit) &+ 0x30, toByteOffset: index, as: UInt8.self)
            rest = quotient
        }
        return rest
    }

    /// Appends the digits of a number.
    package static func append(_ value: UInt64, to json: inout [UInt8]) {
        let digits = digitCount(of: value)
        json.append(atMost: digits) { start in
            _ = write(value, digits: digits, to: start)
            return digits
        }
    }

    @inlinable @inline(always)
    package static func digitCount(of value: UInt64) -> Int {
        var count = 1
        var bound: UInt64 = 10
        while value >= bound {
            count &+= 1
            let (next, overflow) = bound.multipliedReportingOverflow(by: 10)
            if overflow { break }
            bound = next
        }
        return count
    }
}
