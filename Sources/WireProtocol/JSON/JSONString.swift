/// The text of JSON strings, as bytes.
package enum JSONString {
    /// Undoes the escapes of a string's content that was checked before.
    ///
    /// What is no escape after all is kept as it is, so that text that was never checked can't trap.
    package static func unescaped(_ raw: UnsafeRawBufferPointer) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(raw.count)
        unescape(raw, into: &plain)
        return plain
    }

    package static func unescape(_ raw: UnsafeRawBufferPointer, into plain: inout [UInt8]) {
        var index = 0
        while index < raw.count {
            let byte = raw[index]
            index += 1
            guard byte == 0x5C, index < raw.count else {
                plain.append(byte)
                continue
            }
            let letter = raw[index]
            index += 1
            switch letter {
            case 0x62: plain.append(0x08)
            case 0x66: plain.append(0x0C)
            case 0x6E: plain.append(0x0A)
            case 0x72: plain.append(0x0D)
            case 0x74: plain.append(0x09)
            case 0x75:
                var scalar = unit(raw, at: index)
                index = min(index + 4, raw.count)
                if scalar & 0xFC00 == 0xD800, index + 6 <= raw.count {
                    scalar = 0x10000 + (scalar & 0x3FF) << 10 + unit(raw, at: index + 2) & 0x3FF
                    index += 6
                }
                append(scalar, to: &plain)
            default: plain.append(letter)
            }
        }
    }

    private static func unit(_ raw: UnsafeRawBufferPointer, at index: Int) -> UInt32 {
        var unit: UInt32 = 0
        for byte in raw[min(index, raw.count)..<min(index + 4, raw.count)] {
            unit = unit << 4 | (hexadecimalDigit(byte) ?? 0)
        }
        return unit
    }

    private static func append(_ value: UInt32, to plain: inout [UInt8]) {
        let scalar = Unicode.Scalar(value) ?? "\u{FFFD}"
        plain.append(contentsOf: scalar.utf8)
    }

    /// Appends a string in quotes; only what JSON wants escaped is.
    package static func append(_ text: String, quotedTo json: inout [UInt8]) {
        append(text, between: "\"", and: "\"", to: &json)
    }

    package static func append(_ text: [UInt8], quotedTo json: inout [UInt8]) {
        text.withUnsafeBytes { append($0, between: "\"", and: "\"", to: &json) }
    }

    /// Appends the name of an object's next member.
    package static func append(key: String, isFirst: Bool, to json: inout [UInt8]) {
        if isFirst {
            append(key, between: "\"", and: "\":", to: &json)
        } else {
            append(key, between: ",\"", and: "\":", to: &json)
        }
    }

    /// The quotes are the last byte of `opening` and the first of `closing`.
    @inline(always)
    static func append(
        _ text: String, between opening: StaticString, and closing: StaticString, to json: inout [UInt8]
    ) {
        let appended: Void? = text.utf8.withContiguousStorageIfAvailable {
            append(UnsafeRawBufferPointer($0), between: opening, and: closing, to: &json)
        }
        if appended == nil {
            Array(text.utf8).withUnsafeBytes { append($0, between: opening, and: closing, to: &json) }
        }
    }

    @inline(always)
    private static func append(
        _ text: UnsafeRawBufferPointer, between opening: StaticString, and closing: StaticString,
        to json: inout [UInt8]
    ) {
        let (before, after) = (opening.utf8CodeUnitCount, closing.utf8CodeUnitCount)
        if needsEscapes(text) {
            json.append(literal: opening)
            append(escaped: text, to: &json)
            json.append(literal: closing)
        } else {
            json.append(atMost: before + text.count + after) { start in
                start.copyMemory(from: opening.utf8Start, byteCount: before)
                if let base = text.baseAddress {
                    (start + before).copyMemory(from: base, byteCount: text.count)
                }
                (start + before + text.count).copyMemory(from: closing.utf8Start, byteCount: after)
                return before + text.count + after
            }
        }
    }

    /// What needs no escape is copied in runs.
    @inline(never)
    private static func append(escaped text: UnsafeRawBufferPointer, to json: inout [UInt8]) {
        var copied = 0
        for (index, byte) in text.enumerated() where byte < 0x20 || byte == 0x22 || byte == 0x5C {
            json.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[copied..<index]))
            copied = index + 1
            json.append(0x5C)
            switch byte {
            case 0x0A: json.append(0x6E)
            case 0x0D: json.append(0x72)
            case 0x09: json.append(0x74)
            case 0x00..<0x20:
                json.append(contentsOf: [0x75, 0x30, 0x30])
                json.append(hexadecimal[Int(byte >> 4)])
                json.append(hexadecimal[Int(byte & 15)])
            default: json.append(byte)
            }
        }
        json.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[copied...]))
    }

    private static func needsEscapes(_ text: UnsafeRawBufferPointer) -> Bool {
        // What is outside ASCII is special, too, but stays as it is.
        anyMarked(text) { specialBytes($0) & ~$0 }
    }

    private static let hexadecimal = [UInt8]("0123456789abcdef".utf8)
}
