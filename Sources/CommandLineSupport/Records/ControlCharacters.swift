/// The characters that move a terminal's cursor, color it, or turn the direction of its text: C0, DEL, C1 and
/// Unicode's Bidi_Control. Shown to a person they let a notification pass for something that it is not.
///
/// Works on the bytes of UTF-8: each of these characters is one, two or three bytes that are found without decoding
/// what lies between.
package enum ControlCharacters {
    package enum Style: Sendable {
        /// `\u{1B}`, as Swift writes it: for text.
        case braces
        /// `\u001b`: for JSON, which stays the same JSON. A control character that stands raw in valid JSON below
        /// U+0020 is white space between tokens, and becomes a space.
        case json
    }

    package static func escape(_ bytes: ArraySlice<UInt8>, as style: Style, to output: inout [UInt8]) {
        output.reserveCapacity(output.count + bytes.count)
        var rest = bytes
        var index = rest.startIndex
        while index < rest.endIndex {
            guard let (scalar, length) = control(in: rest, at: index) else {
                index += 1
                continue
            }
            output.append(contentsOf: rest[..<index])
            append(scalar, as: style, to: &output)
            index += length
            rest = rest[index...]
        }
        output.append(contentsOf: rest)
    }

    /// The control character that begins at `index`, and how many bytes it takes.
    private static func control(in bytes: ArraySlice<UInt8>, at index: Int) -> (UInt32, length: Int)? {
        let first = bytes[index]
        if first < 0x20 || first == 0x7F { return (UInt32(first), 1) }
        guard first >= 0xC2, index + 1 < bytes.endIndex else { return nil }
        let second = bytes[index + 1]
        switch first {
        case 0xC2 where second >= 0x80 && second < 0xA0:
            return (UInt32(second), 2)
        case 0xD8 where second == 0x9C:
            return (0x061C, 2)
        case 0xE2 where (second == 0x80 || second == 0x81) && index + 2 < bytes.endIndex:
            let scalar = 0x2000 | UInt32(second & 0x3F) << 6 | UInt32(bytes[index + 2] & 0x3F)
            switch scalar {
            case 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: return (scalar, 3)
            default: return nil
            }
        default:
            return nil
        }
    }

    private static func append(_ scalar: UInt32, as style: Style, to output: inout [UInt8]) {
        switch style {
        case .braces:
            output.append(contentsOf: "\\u{\(String(scalar, radix: 16, uppercase: true))}".utf8)
        case .json where scalar < 0x20:
            output.append(UInt8(ascii: " "))
        case .json:
            let digits = String(scalar, radix: 16)
            output.append(contentsOf: "\\u".utf8)
            output.append(contentsOf: String(repeating: "0", count: 4 - digits.utf8.count).utf8)
            output.append(contentsOf: digits.utf8)
        }
    }
}
