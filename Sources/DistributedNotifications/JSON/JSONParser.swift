/// Checks a JSON text and lays down its nodes; see ``JSONDocument``.
///
/// The broker has checked what arrives from it. This one checks again, since memory safety must not hang on whom a
/// socket belongs to; only whether strings are UTF-8 is left to it, and what is not is repaired.
struct JSONParser {
    private let bytes: [UInt8]
    private let end: Int
    private var nodes: [JSONDocument.Node] = []
    private var position: Int

    init(_ bytes: [UInt8], in range: Range<Int>) {
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    mutating func parse() throws(DistributedNotificationError) -> [JSONDocument.Node] {
        nodes.reserveCapacity(min(16, end - position))
        try parseValue(depth: 1)
        skipWhiteSpace()
        guard position == end else { throw fault() }
        return nodes
    }

    private func fault() -> DistributedNotificationError {
        DistributedNotificationError(code: .undecodable, description: "no valid JSON at byte \(position)")
    }

    private var byte: UInt8? {
        position < end ? bytes[position] : nil
    }

    private mutating func skipWhiteSpace() {
        while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            position += 1
        }
    }

    private mutating func add(_ kind: JSONDocument.Kind, from start: Int, to end: Int) {
        nodes.append(.init(kind: kind, start: start, end: end, next: nodes.count + 1, count: 0))
    }

    private mutating func parseValue(depth: Int) throws(DistributedNotificationError) {
        skipWhiteSpace()
        switch byte {
        case UInt8(ascii: "{"): try parseContainer(.object, closing: UInt8(ascii: "}"), depth: depth)
        case UInt8(ascii: "["): try parseContainer(.array, closing: UInt8(ascii: "]"), depth: depth)
        case UInt8(ascii: "\""): try parseString()
        case UInt8(ascii: "t"): try parseWord("true", .bool)
        case UInt8(ascii: "f"): try parseWord("false", .bool)
        case UInt8(ascii: "n"): try parseWord("null", .null)
        default: try parseNumber()
        }
    }

    private mutating func parseContainer(
        _ kind: JSONDocument.Kind, closing: UInt8, depth: Int
    ) throws(DistributedNotificationError) {
        guard depth <= JSONText.depthLimit else { throw fault() }
        let index = nodes.count
        add(kind, from: position, to: position)
        position += 1
        var count = 0
        skipWhiteSpace()
        if byte != closing {
            while true {
                if kind == .object {
                    skipWhiteSpace()
                    guard byte == UInt8(ascii: "\"") else { throw fault() }
                    try parseString()
                    skipWhiteSpace()
                    guard byte == UInt8(ascii: ":") else { throw fault() }
                    position += 1
                }
                try parseValue(depth: depth + 1)
                count += 1
                skipWhiteSpace()
                if byte == closing { break }
                guard byte == UInt8(ascii: ",") else { throw fault() }
                position += 1
            }
        }
        position += 1
        nodes[index].end = position
        nodes[index].next = nodes.count
        nodes[index].count = count
    }

    private mutating func parseString() throws(DistributedNotificationError) {
        let start = position + 1
        var index = start
        var isEscaped = false
        while index < end {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") {
                add(isEscaped ? .escapedString : .string, from: start, to: index)
                position = index + 1
                return
            }
            if byte == UInt8(ascii: "\\") {
                isEscaped = true
                index += 1
            } else if byte < 0x20 {
                break
            }
            index += 1
        }
        throw fault()
    }

    private mutating func parseWord(
        _ word: StaticString, _ kind: JSONDocument.Kind
    ) throws(DistributedNotificationError) {
        let wordEnd = position + word.utf8CodeUnitCount
        guard wordEnd <= end, word.withUTF8Buffer({ bytes[position..<wordEnd].elementsEqual($0) }) else {
            throw fault()
        }
        add(kind, from: position, to: wordEnd)
        position = wordEnd
    }

    private mutating func parseNumber() throws(DistributedNotificationError) {
        let start = position
        var kind = JSONDocument.Kind.integer
        if byte == UInt8(ascii: "-") { position += 1 }
        let firstDigit = position
        try skipDigits()
        if bytes[firstDigit] == UInt8(ascii: "0") && position > firstDigit + 1 { throw fault() }
        if byte == UInt8(ascii: ".") {
            kind = .fraction
            position += 1
            try skipDigits()
        }
        if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            kind = .fraction
            position += 1
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { position += 1 }
            try skipDigits()
        }
        add(kind, from: start, to: position)
    }

    private mutating func skipDigits() throws(DistributedNotificationError) {
        let start = position
        while let byte, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
            position += 1
        }
        guard position > start else { throw fault() }
    }
}
