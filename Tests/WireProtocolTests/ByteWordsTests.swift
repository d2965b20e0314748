import Testing

@testable import WireProtocol

@Suite struct ByteWordsTests {
    @Test func bytesAreEqualOnlyToTheSame() {
        for count in 0..<40 {
            let text = (0..<count).map { UInt8($0) }
            text.withUnsafeBytes { one in
                Array(text).withUnsafeBytes { #expect(equalBytes(one, $0)) }
                for place in text.indices {
                    var other = text
                    other[place] ^= 0x80
                    other.withUnsafeBytes { #expect(!equalBytes(one, $0)) }
                }
                (text + [0]).withUnsafeBytes { #expect(!equalBytes(one, $0)) }
            }
        }
    }

    /// Each byte at each place of texts that end anywhere in a word.
    @Test func whatIsMarkedIsFoundWhereverItStands() {
        for count in 0..<20 {
            let plain = [UInt8](repeating: UInt8(ascii: "n"), count: count)
            plain.withUnsafeBytes { #expect(!anyMarked($0, controlBytes)) }
            for place in plain.indices {
                for byte in UInt8.min...UInt8.max {
                    var text = plain
                    text[place] = byte
                    let isControl = byte < 0x20 || byte == 0x7F
                    let isSpecial = byte < 0x20 || byte == 0x22 || byte == 0x5C
                    text.withUnsafeBytes {
                        #expect(anyMarked($0, controlBytes) == isControl, "\(byte) at \(place) of \(count)")
                        #expect(
                            anyMarked($0) { specialBytes($0) & ~$0 } == isSpecial,
                            "\(byte) at \(place) of \(count)")
                    }
                }
            }
        }
    }
}
