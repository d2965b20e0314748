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
        if value < 10 {
            json.append(0x30 + UInt8(truncatingIfNeeded: value))
            return
        }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var rest = value
            var index = 20
            repeat {
                index -= 1
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                digits[index] = 0x30 + UInt8(truncatingIfNeeded: digit)
                rest = quotient
            } while rest > 0
            json.append(contentsOf: digits[index..<20])
        }
    }
}
