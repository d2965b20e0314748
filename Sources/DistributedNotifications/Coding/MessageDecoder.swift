import Foundation

/// Decodes `Decodable` values from the JSON form of a userInfo, straight from the bytes that came.
enum MessageDecoder {
    /// - Throws: `undecodable` with the coding path of what does not fit.
    static func decode<T: Decodable>(
        _ type: T.Type, from bytes: [UInt8], in range: Range<Int>
    ) throws(DistributedNotificationError) -> T {
        let document = try JSONDocument(bytes, in: range)
        do {
            return try Decoding(document: document, index: 0).decodeWhole(type)
        } catch let error as DecodingError {
            throw DistributedNotificationError(error)
        } catch {
            throw DistributedNotificationError(code: .undecodable, description: "\(error)")
        }
    }
}

extension DistributedNotificationError {
    fileprivate init(_ error: DecodingError) {
        let path: [any CodingKey]
        let description: String
        switch error {
        case .keyNotFound(let key, let context):
            path = context.codingPath + [key]
            description = "no value named \(key.stringValue)"
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            path = context.codingPath
            description = context.debugDescription
        @unknown default:
            path = []
            description = "\(error)"
        }
        self.init(code: .undecodable, keyPath: KeyPathText.text(path), description: description)
    }
}

/// One value of a document, as a `Decoder`. It knows no path: that is found out when an error needs it.
private struct Decoding: Decoder {
    let document: JSONDocument
    let index: Int

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    var codingPath: [any CodingKey] { document.codingPath(of: index) }

    var node: JSONDocument.Node { document.nodes[index] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard node.kind == .object else { throw mismatch("an object") }
        return KeyedDecodingContainer(KeyedDecoding(decoding: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard node.kind == .array else { throw mismatch("an array") }
        return UnkeyedDecoding(decoding: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        SingleValueDecoding(decoding: self)
    }

    func mismatch(_ expected: String) -> DecodingError {
        let isNull = node.kind == .null
        let context = DecodingError.Context(
            codingPath: codingPath, debugDescription: isNull ? "null is not \(expected)" : "not \(expected)")
        return isNull ? .valueNotFound(Any.self, context) : .typeMismatch(Any.self, context)
    }

    var isNull: Bool { node.kind == .null }

    func bool() throws -> Bool {
        guard node.kind == .bool else { throw mismatch("a truth value") }
        return document.bytes[node.start] == UInt8(ascii: "t")
    }

    func string() throws -> String {
        guard node.kind == .string || node.kind == .escapedString else { throw mismatch("a string") }
        return document.text(at: index)
    }

    func double() throws -> Double {
        switch node.kind {
        case .integer, .fraction:
            let number = document.double(at: index)
            guard number.isFinite else { throw mismatch("a number that a Double holds") }
            return number
        default:
            guard case .double(let number) = document.tagged(at: index) else { throw mismatch("a number") }
            return number
        }
    }

    func float() throws -> Float {
        let wide = try double()
        let number = Float(wide)
        guard number.isFinite || !wide.isFinite else { throw mismatch("a number that a Float holds") }
        return number
    }

    func integer<I: FixedWidthInteger>(_ type: I.Type) throws -> I {
        let number: I?
        switch node.kind {
        case .integer:
            switch document.integer(at: index) {
            case .int(let value): number = I(exactly: value)
            case .uint(let value): number = I(exactly: value)
            default: number = nil
            }
        case .fraction: number = I(exactly: document.double(at: index))
        default: throw mismatch("a whole number")
        }
        guard let number else { throw mismatch("a number that \(type) holds") }
        return number
    }

    func decodeWhole<T: Decodable>(_ type: T.Type) throws -> T {
        try special(type) ?? T(from: self)
    }

    /// Types whose own `Codable` form is not theirs here.
    private func special<T>(_ type: T.Type) throws -> T? {
        if type == Date.self {
            guard case .date(let date) = document.tagged(at: index) else { throw mismatch("a date") }
            return date as? T
        }
        if type == Data.self {
            guard case .data(let data) = document.tagged(at: index) else { throw mismatch("data") }
            return data as? T
        }
        if type == URL.self {
            guard let url = URL(string: try string()) else { throw mismatch("a URL") }
            return url as? T
        }
        if type == Decimal.self {
            let decimal =
                switch node.kind {
                case .integer, .fraction: Decimal(string: document.source(at: index))
                default: Decimal(string: try string())
                }
            guard let decimal else { throw mismatch("a decimal number") }
            return decimal as? T
        }
        return nil
    }
}

private struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoding: Decoding
    /// Value nodes by name, for objects with more members than are looked through one by one.
    private let table: [String: Int]?

    private static var scannedMembers: Int { 12 }

    init(decoding: Decoding) {
        self.decoding = decoding
        if decoding.node.count > Self.scannedMembers {
            var table: [String: Int] = Dictionary(minimumCapacity: decoding.node.count)
            decoding.forEachKey { table[decoding.document.text(at: $0)] = $0 + 1 }
            self.table = table
        } else {
            table = nil
        }
    }

    var codingPath: [any CodingKey] { decoding.codingPath }

    var allKeys: [Key] {
        var keys: [Key] = []
        decoding.forEachKey { key in
            if let key = Key(stringValue: decoding.document.key(at: key, of: decoding.index)) {
                keys.append(key)
            }
        }
        return keys
    }

    private func find(_ name: String) -> Decoding? {
        let index =
            if let table { table[name] } else { decoding.document.value(named: name, of: decoding.index) }
        return index.map { Decoding(document: decoding.document, index: $0) }
    }

    private func member(_ key: Key) throws -> Decoding {
        guard let member = find(key.stringValue) else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: codingPath, debugDescription: "no value named \(key.stringValue)"))
        }
        return member
    }

    func contains(_ key: Key) -> Bool { find(key.stringValue) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try member(key).isNull }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try member(key).bool() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try member(key).string() }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try member(key).double() }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try member(key).float() }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try member(key).integer(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try member(key).integer(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try member(key).integer(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try member(key).integer(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try member(key).integer(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try member(key).integer(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try member(key).integer(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try member(key).integer(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try member(key).integer(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try member(key).integer(type) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try member(key).decodeWhole(type)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try member(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try member(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        guard let member = find("super") else {
            throw DecodingError.keyNotFound(
                PathKey(stringValue: "super"), .init(codingPath: codingPath, debugDescription: "no value"))
        }
        return member
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }
}

private struct UnkeyedDecoding: UnkeyedDecodingContainer {
    let decoding: Decoding
    private(set) var currentIndex = 0
    private var nextNode: Int

    init(decoding: Decoding) {
        self.decoding = decoding
        nextNode = decoding.index + 1
    }

    var codingPath: [any CodingKey] { decoding.codingPath }
    var count: Int? { decoding.node.count }
    var isAtEnd: Bool { currentIndex == decoding.node.count }

    private func current() throws -> Decoding {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                Any.self,
                .init(
                    codingPath: codingPath + [PathKey(intValue: currentIndex)],
                    debugDescription: "the array ends before"))
        }
        return Decoding(document: decoding.document, index: nextNode)
    }

    /// An element is passed only when it was decoded, so that one that does not fit can be tried as something else.
    private mutating func pass<T>(_ decode: (Decoding) throws -> T) throws -> T {
        let element = try current()
        let value = try decode(element)
        nextNode = element.node.next
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard try current().isNull else { return false }
        return try pass { _ in true }
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try pass { try $0.bool() } }
    mutating func decode(_ type: String.Type) throws -> String { try pass { try $0.string() } }
    mutating func decode(_ type: Double.Type) throws -> Double { try pass { try $0.double() } }
    mutating func decode(_ type: Float.Type) throws -> Float { try pass { try $0.float() } }
    mutating func decode(_ type: Int.Type) throws -> Int { try pass { try $0.integer(type) } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try pass { try $0.integer(type) } }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try pass { try $0.integer(type) } }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try pass { try $0.integer(type) } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try pass { try $0.integer(type) } }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try pass { try $0.integer(type) } }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try pass { try $0.integer(type) } }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try pass { try $0.integer(type) } }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try pass { try $0.integer(type) } }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try pass { try $0.integer(type) } }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try pass { try $0.decodeWhole(type) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try pass { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try pass { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try pass { $0 } }
}

private struct SingleValueDecoding: SingleValueDecodingContainer {
    let decoding: Decoding

    var codingPath: [any CodingKey] { decoding.codingPath }

    func decodeNil() -> Bool { decoding.isNull }
    func decode(_ type: Bool.Type) throws -> Bool { try decoding.bool() }
    func decode(_ type: String.Type) throws -> String { try decoding.string() }
    func decode(_ type: Double.Type) throws -> Double { try decoding.double() }
    func decode(_ type: Float.Type) throws -> Float { try decoding.float() }
    func decode(_ type: Int.Type) throws -> Int { try decoding.integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try decoding.integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try decoding.integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try decoding.integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try decoding.integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try decoding.integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try decoding.integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try decoding.integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try decoding.integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try decoding.integer(type) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoding.decodeWhole(type) }
}

extension Decoding {
    func forEachKey(_ body: (Int) -> Void) {
        var key = index + 1
        while key < node.next {
            body(key)
            key = document.nodes[key + 1].next
        }
    }
}
