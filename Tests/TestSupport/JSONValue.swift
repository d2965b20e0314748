/// JSON as a test looks at it: a small reader of its own, so that what the package writes is read by other code than the
/// package's. Numbers stay as they were written.
package enum JSONValue: Equatable, CustomStringConvertible {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    package struct Member: Equatable {
        package let key: String
        package let value: JSONValue

        package init(key: String, value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    package init(parsing bytes: some Sequence<UInt8>) throws {
        guard let text = String(validating: Array(bytes), as: UTF8.self) else {
            throw TestFailure("JSON that is not UTF-8")
        }
        var reader = JSONReader(text)
        self = try reader.document()
    }

    package subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.key == key }?.value
    }

    package subscript(index: Int) -> JSONValue? {
        guard case .array(let values) = self, values.indices.contains(index) else { return nil }
        return values[index]
    }

    package var int: Int? {
        guard case .number(let digits) = self else { return nil }
        return Int(digits)
    }

    package var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    package var values: [JSONValue] {
        guard case .array(let values) = self else { return [] }
        return values
    }

    package var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let digits): digits
        case .string(let text): text.debugDescription
        case .array(let values): "\(values)"
        case .object(let members):
            "{" + members.map { "\($0.key.debugDescription):\($0.value)" }.joined(separator: ",") + "}"
        }
    }
}

private struct JSONReader {
    private var rest: Substring.UnicodeScalarView
    private let whole: String

    init(_ text: String) {
        whole = text
        rest = text[...].unicodeScalars
    }

    mutating func document() throws -> JSONValue {
        let value = try value()
        skipSpace()
        guard rest.isEmpty else { throw wrong() }
        return value
    }

    private func wrong() -> TestFailure {
        TestFailure("no JSON near '\(Substring(rest).prefix(40))' in \(whole)")
    }

    private mutating func skipSpace() {
        while let first = rest.first, " \t\r\n".unicodeScalars.contains(first) { rest.removeFirst() }
    }

    private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
        skipSpace()
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func value() throws -> JSONValue {
        if skip("{") { return .object(try items(until: "}") { try $0.member() }) }
        if skip("[") { return .array(try items(until: "]") { try $0.value() }) }
        if skip("\"") { return .string(try string()) }
        let token = String(
            String.UnicodeScalarView(rest.prefix { !" \t\r\n,]}".unicodeScalars.contains($0) }))
        rest.removeFirst(token.unicodeScalars.count)
        switch token {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        default:
            guard token.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/) != nil else {
                throw wrong()
            }
            return .number(token)
        }
    }

    private mutating func items<Item>(
        until end: Unicode.Scalar, _ item: (inout JSONReader) throws -> Item
    ) throws -> [Item] {
        if skip(end) { return [] }
        var items = [try item(&self)]
        while skip(",") { items.append(try item(&self)) }
        guard skip(end) else { throw wrong() }
        return items
    }

    private mutating func member() throws -> JSONValue.Member {
        guard skip("\"") else { throw wrong() }
        let key = try string()
        guard skip(":") else { throw wrong() }
        return JSONValue.Member(key: key, value: try value())
    }

    private mutating func string() throws -> String {
        var units: [UInt16] = []
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"": return String(decoding: units, as: UTF16.self)
            case "\\": units.append(try escaped())
            case _ where scalar.value < 0x20: throw wrong()
            default: units += Array(String(scalar).utf16)
            }
        }
        throw wrong()
    }

    private mutating func escaped() throws -> UInt16 {
        switch rest.popFirst() {
        case "n": return 0x0A
        case "r": return 0x0D
        case "t": return 0x09
        case "b": return 0x08
        case "f": return 0x0C
        case "u":
            let digits = String(String.UnicodeScalarView(rest.prefix(4)))
            guard digits.count == 4, let unit = UInt16(digits, radix: 16) else { throw wrong() }
            rest.removeFirst(4)
            return unit
        case let plain?: return UInt16(truncatingIfNeeded: plain.value)
        case nil: throw wrong()
        }
    }
}
