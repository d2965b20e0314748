import WireProtocol

/// The grammar of RFC 8259 once more, slow and recursive, written from the standard and not from the scanner.
///
/// It says what the first fault is: the byte from which on no continuation could make the text valid. For a surrogate
/// without a partner that is where its escape begins, for a wrong character where its first byte is, for a doubled member
/// where its name's quote is, and for one that is too deep its bracket.
struct ReferenceJSON {
    enum Kind: Equatable { case invalid, utf8, tooDeep, notAnObject, duplicate }

    struct Fault: Error, Equatable {
        var kind: Kind
        var offset: Int
    }

    private let bytes: [UInt8]
    private let depth: Int
    private var index = 0
    private(set) var members: [(key: [UInt8], value: Range<Int>)] = []

    /// Reads a frame's text; throws its first fault.
    init(frame bytes: [UInt8], depth: Int = 128) throws(Fault) {
        self.bytes = bytes
        self.depth = depth
        space()
        let isObject = peek == UInt8(ascii: "{")
        if isObject { try frameObject() } else { try value(1) }
        space()
        if index < bytes.count { throw here() }
        if !isObject { throw Fault(kind: .notAnObject, offset: 0) }
    }

    private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// The fault that a byte is which the grammar has no use for.
    private func here() -> Fault {
        if let byte = peek, byte >= 0x80, characterLength(at: index) == nil {
            return Fault(kind: .utf8, offset: index)
        }
        return Fault(kind: .invalid, offset: index)
    }

    private mutating func space() {
        while let byte = peek, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { index += 1 }
    }

    private mutating func expect(_ character: Character) throws(Fault) {
        guard let wanted = character.asciiValue, peek == wanted else { throw here() }
        index += 1
    }

    private mutating func frameObject() throws(Fault) {
        guard depth >= 1 else { throw Fault(kind: .tooDeep, offset: index) }
        var keys: Set<[UInt8]> = []
        try items("{", "}") { (reader) throws(Fault) in
            let quote = reader.index
            let key = try reader.string()
            guard keys.insert(key).inserted else { throw Fault(kind: .duplicate, offset: quote) }
            reader.space()
            try reader.expect(":")
            reader.space()
            let start = reader.index
            try reader.value(2)
            reader.members.append((key, start..<reader.index))
        }
    }

    private mutating func items(
        _ open: Character, _ close: Character, _ item: (inout ReferenceJSON) throws(Fault) -> Void
    ) throws(Fault) {
        try expect(open)
        space()
        if peek == close.asciiValue {
            index += 1
            return
        }
        while true {
            try item(&self)
            space()
            if peek == UInt8(ascii: ",") {
                index += 1
                space()
            } else {
                return try expect(close)
            }
        }
    }

    private mutating func value(_ level: Int) throws(Fault) {
        switch peek {
        case UInt8(ascii: "{"):
            guard level <= depth else { throw Fault(kind: .tooDeep, offset: index) }
            try items("{", "}") { (reader) throws(Fault) in
                _ = try reader.string()
                reader.space()
                try reader.expect(":")
                reader.space()
                try reader.value(level + 1)
            }
        case UInt8(ascii: "["):
            guard level <= depth else { throw Fault(kind: .tooDeep, offset: index) }
            try items("[", "]") { (reader) throws(Fault) in try reader.value(level + 1) }
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "t"): for letter in "true" { try expect(letter) }
        case UInt8(ascii: "f"): for letter in "false" { try expect(letter) }
        case UInt8(ascii: "n"): for letter in "null" { try expect(letter) }
        default: try number()
        }
    }

    private mutating func number() throws(Fault) {
        if peek == UInt8(ascii: "-") { index += 1 }
        if peek == UInt8(ascii: "0") { index += 1 } else { try digits() }
        if peek == UInt8(ascii: ".") {
            index += 1
            try digits()
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            index += 1
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { index += 1 }
            try digits()
        }
    }

    private mutating func digits() throws(Fault) {
        guard let first = peek, (0x30...0x39).contains(first) else { throw here() }
        while let byte = peek, (0x30...0x39).contains(byte) { index += 1 }
    }

    /// A string; answers its text.
    private mutating func string() throws(Fault) -> [UInt8] {
        try expect("\"")
        var text: [UInt8] = []
        while true {
            guard let byte = peek, byte >= 0x20 else { throw here() }
            if byte == UInt8(ascii: "\"") {
                index += 1
                return text
            }
            if byte == UInt8(ascii: "\\") {
                text += try escape()
            } else {
                guard let length = characterLength(at: index) else {
                    throw Fault(kind: .utf8, offset: index)
                }
                text += bytes[index..<index + length]
                index += length
            }
        }
    }

    private mutating func escape() throws(Fault) -> [UInt8] {
        let start = index
        index += 1
        let plain: [Character: UInt8] = [
            "\"": 0x22, "\\": 0x5C, "/": 0x2F, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9,
        ]
        guard let letter = peek else { throw here() }
        if let byte = plain[Character(Unicode.Scalar(letter))] {
            index += 1
            return [byte]
        }
        try expect("u")
        let unit = try hexadecimal()
        if let scalar = Unicode.Scalar(unit) { return Array(String(scalar).utf8) }
        guard unit < 0xDC00 else { throw Fault(kind: .invalid, offset: start) }
        // The text may just end, where a partner could have followed.
        if peek == nil { throw here() }
        guard bytes[index...].starts(with: Array("\\u".utf8)) else {
            throw Fault(kind: .invalid, offset: start)
        }
        index += 2
        let low = try hexadecimal()
        guard (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) * 1024 + low - 0xDC00)
        else { throw Fault(kind: .invalid, offset: start) }
        return Array(String(scalar).utf8)
    }

    private mutating func hexadecimal() throws(Fault) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80
            else { throw here() }
            unit = unit * 16 + UInt32(digit)
            index += 1
        }
        return unit
    }

    /// The length of the UTF-8 character here; nil if there is none.
    private func characterLength(at index: Int) -> Int? {
        for length in 1...4 where index + length <= bytes.count {
            let candidate = bytes[index..<index + length]
            if let text = String(validating: candidate, as: UTF8.self), text.unicodeScalars.count == 1 {
                return length
            }
        }
        return nil
    }
}

extension ReferenceJSON.Fault {
    /// The scanner's word for it.
    init(_ fault: JSONFault) {
        offset = fault.offset
        switch fault.kind {
        case .invalid: kind = .invalid
        case .utf8: kind = .utf8
        case .tooDeep: kind = .tooDeep
        case .notAnObject: kind = .notAnObject
        case .duplicateMember: kind = .duplicate
        }
    }
}
