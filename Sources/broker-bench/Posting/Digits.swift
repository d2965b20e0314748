/// Numbers of eight decimal digits as the eight bytes of their text, in one register.
enum Digits {
    static let width = 8
    static let bound = 100_000_000

    /// The text of a number below `bound`; its last digit is the lowest byte.
    static func text(_ number: Int) -> UInt64 {
        var rest = UInt64(truncatingIfNeeded: number)
        var text: UInt64 = 0
        for place in 0..<8 {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            text |= (0x30 | digit) << UInt64(8 * place)
            rest = quotient
        }
        return text
    }

    /// The number of a text, its first digit in the lowest byte as it was loaded; nil if it is none.
    @inline(__always)
    static func number(loaded text: UInt64) -> Int? {
        let high: UInt64 = 0xF0F0_F0F0_F0F0_F0F0
        let zeros: UInt64 = 0x3030_3030_3030_3030
        guard text & high == zeros, (text &+ 0x0606_0606_0606_0606) & high == zeros else { return nil }
        // Neighbours are joined to numbers of two, four, then eight digits.
        var value = text ^ zeros
        value = value &* 10 &+ value >> 8
        let mask: UInt64 = 0x0000_00FF_0000_00FF
        value =
            ((value & mask) &* 0x000F_4240_0000_0064 &+ (value >> 16 & mask) &* 0x0000_2710_0000_0001) >> 32
        return Int(value & 0xFFFF_FFFF)
    }
}

/// Which post of which sender: sixteen digits, four of the sender and twelve of the number.
struct Stamp {
    static let width = 16
    private static let numbersPerSender = 1_000_000_000_000

    var sender: Int
    var number: Int

    init(sender: Int, number: Int) {
        self.sender = sender
        self.number = number
    }

    /// Reads a stamp; nil if there is none.
    @inline(__always)
    init?(at bytes: UnsafeRawPointer) {
        guard let high = Digits.number(loaded: bytes.loadUnaligned(as: UInt64.self).littleEndian),
            let low = Digits.number(
                loaded: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self).littleEndian)
        else { return nil }
        sender = high / 10_000
        number = high % 10_000 * Digits.bound + low
    }

    var text: (high: UInt64, low: UInt64) {
        let value = sender * Self.numbersPerSender + number
        let (high, low) = value.quotientAndRemainder(dividingBy: Digits.bound)
        return (Digits.text(high), Digits.text(low))
    }
}
