import Foundation

/// Encodes `Encodable` values in the JSON form of a userInfo, straight into the bytes that travel.
///
/// Values that are encoded one after the other, and that is what compilers synthesise, are written in place. A
/// nested container that is asked for by name may be filled later, or in turns with others: it gets a text of its
/// own, which is put in where it belongs when all is done.
enum MessageEncoder {
    /// Appends what travels.
    ///
    /// - Throws: `invalidValue` with the coding path of what can't be sent, or if the value is no object. The bytes are
    ///   lost then.
    static func encode(
        _ value: some Encodable, to bytes: inout [UInt8]
    ) throws(DistributedNotificationError) {
        let start = bytes.count
        let slot = EncodingSlot(parent: nil, key: nil, host: nil)
        swap(&slot.json.bytes, &bytes)
        defer { slot.forgetParts() }
        do {
            try slot.encodeWhole(value)
        } catch let error as DistributedNotificationError {
            throw error
        } catch EncodingError.invalidValue(_, let context) {
            throw DistributedNotificationError(
                code: .invalidValue, keyPath: KeyPathText.text(context.codingPath),
                description: context.debugDescription)
        } catch {
            throw DistributedNotificationError(code: .invalidValue, description: "\(error)")
        }
        slot.splice()
        swap(&slot.json.bytes, &bytes)
        guard bytes[start] == UInt8(ascii: "{") else {
            throw DistributedNotificationError.invalidValue("\(type(of: value)) does not encode to an object")
        }
    }
}

/// The place of one value, and the `Encoder` that fills it.
///
/// A slot writes to its own text or to its host's, and a text may get those of other slots put into it.
private final class EncodingSlot: Encoder {
    private enum Content {
        case nothing
        case object(count: Int, firstKey: Int)
        case array(count: Int)
        case value
    }

    private let parent: EncodingSlot?
    private let key: (any CodingKey)?
    private let host: EncodingSlot?
    // SAFETY: each access to these ends before a user's code, or another method here, runs.
    @exclusivity(unchecked) private var content = Content.nothing
    @exclusivity(unchecked) var json = JSONText()
    @exclusivity(unchecked) private var parts: [(offset: Int, slot: EncodingSlot)] = []

    init(parent: EncodingSlot?, key: (any CodingKey)?, host: EncodingSlot?) {
        self.parent = parent
        self.key = key
        self.host = host
    }

    /// Has the text that this slot is written to.
    var text: EncodingSlot { host ?? self }

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    var codingPath: [any CodingKey] {
        (parent?.codingPath ?? []) + (key.map { [$0] } ?? [])
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        openObject()
        return KeyedEncodingContainer(KeyedEncoding(slot: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        openArray()
        return UnkeyedEncoding(slot: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleValueEncoding(slot: self)
    }

    private func openObject() {
        switch content {
        case .nothing:
            text.json.bytes.append(UInt8(ascii: "{"))
            content = .object(count: 0, firstKey: 0)
        case .object: break
        case .array, .value: preconditionFailure("a value is encoded as an object and as something else")
        }
    }

    private func openArray() {
        switch content {
        case .nothing:
            text.json.bytes.append(UInt8(ascii: "["))
            content = .array(count: 0)
        case .array: break
        case .object, .value: preconditionFailure("a value is encoded as an array and as something else")
        }
    }

    /// Answers whose text it is to be written to.
    @discardableResult
    func openMember(_ name: String) -> EncodingSlot {
        guard case .object(let count, var firstKey) = content else {
            preconditionFailure("a member without its object")
        }
        let text = text
        if count == 0 { firstKey = text.json.bytes.count + 1 }
        content = .object(count: count + 1, firstKey: firstKey)
        text.json.append(key: name, isFirst: count == 0)
        return text
    }

    var elementCount: Int {
        guard case .array(let count) = content else { preconditionFailure("an element without its array") }
        return count
    }

    @discardableResult
    func openElement() -> EncodingSlot {
        let count = elementCount
        let text = text
        if count > 0 { text.json.bytes.append(UInt8(ascii: ",")) }
        content = .array(count: count + 1)
        return text
    }

    func openValue() -> EncodingSlot {
        guard case .nothing = content else { preconditionFailure("a value is encoded twice") }
        content = .value
        return text
    }

    func close() {
        let text = text
        switch content {
        case .nothing: text.json.append(literal: "{}")
        case .object(1, let firstKey) where text.json.bytes[firstKey] == UInt8(ascii: "$"):
            text.insertDollar(at: firstKey)
            text.json.bytes.append(UInt8(ascii: "}"))
        case .object: text.json.bytes.append(UInt8(ascii: "}"))
        case .array: text.json.bytes.append(UInt8(ascii: "]"))
        case .value: break
        }
        content = .value
    }

    /// Fills this slot.
    func encodeWhole(_ value: some Encodable) throws {
        if try !encodeSpecial(value) {
            try value.encode(to: self)
            close()
        }
    }

    /// Writes a value where this slot's text ends.
    func encodeNested(_ value: some Encodable, key: @autoclosure () -> any CodingKey) throws {
        let slot = EncodingSlot(parent: self, key: key(), host: text)
        try slot.encodeWhole(value)
    }

    /// Leaves nothing of what failed, since who encodes may go on without it.
    @inline(__always)
    func attempt(_ body: () throws -> Void) throws {
        let text = text
        let before = (content: content, bytes: text.json.bytes.count, parts: text.parts.count)
        do {
            try body()
        } catch {
            content = before.content
            text.json.bytes.removeSubrange(before.bytes...)
            text.parts.removeSubrange(before.parts...)
            throw error
        }
    }

    /// A slot of its own for the value that is due now, to be filled whenever.
    func detached(_ key: any CodingKey) -> EncodingSlot {
        let slot = EncodingSlot(parent: self, key: key, host: nil)
        text.parts.append((text.json.bytes.count, slot))
        return slot
    }

    /// What was put in behind `offset` moves with the text.
    private func insertDollar(at offset: Int) {
        json.bytes.insert(UInt8(ascii: "$"), at: offset)
        for index in parts.indices where parts[index].offset >= offset {
            parts[index].offset += 1
        }
    }

    /// Puts the texts of others into this one, now that all is done.
    func splice() {
        guard !parts.isEmpty else { return }
        var bytes: [UInt8] = []
        var copied = 0
        for (offset, slot) in parts {
            slot.close()
            slot.splice()
            bytes += json.bytes[copied..<offset]
            bytes += slot.json.bytes
            copied = offset
        }
        json.bytes = bytes + json.bytes[copied...]
    }

    /// They know this slot as their parent.
    func forgetParts() {
        for (_, slot) in parts { slot.forgetParts() }
        parts = []
    }

    /// Types whose own `Codable` form is not theirs here. Types are compared before any cast, which is slow.
    private func encodeSpecial<T: Encodable>(_ value: T) throws -> Bool {
        if T.self == Date.self, let date = value as? Date {
            do {
                try text.json.append(date: date)
            } catch {
                throw EncodingError.invalidValue(
                    date, .init(codingPath: codingPath, debugDescription: error.description))
            }
        } else if T.self == Data.self, let data = value as? Data {
            text.json.append(data: data)
        } else if T.self == URL.self, let url = value as? URL {
            text.json.append(string: url.absoluteString)
        } else if T.self == Decimal.self, let decimal = value as? Decimal {
            text.json.append(string: decimal.description)
        } else {
            return false
        }
        content = .value
        return true
    }
}

private struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: EncodingSlot

    var codingPath: [any CodingKey] { slot.codingPath }

    private func member(_ key: Key) -> EncodingSlot { slot.openMember(key.stringValue) }

    func encodeNil(forKey key: Key) { member(key).json.append(literal: "null") }
    func encode(_ value: Bool, forKey key: Key) { member(key).json.append(bool: value) }
    func encode(_ value: String, forKey key: Key) { member(key).json.append(string: value) }
    func encode(_ value: Double, forKey key: Key) { member(key).json.append(double: value) }
    func encode(_ value: Float, forKey key: Key) { member(key).json.append(double: Double(value)) }
    func encode(_ value: Int, forKey key: Key) { member(key).json.append(integer: Int64(value)) }
    func encode(_ value: Int8, forKey key: Key) { member(key).json.append(integer: Int64(value)) }
    func encode(_ value: Int16, forKey key: Key) { member(key).json.append(integer: Int64(value)) }
    func encode(_ value: Int32, forKey key: Key) { member(key).json.append(integer: Int64(value)) }
    func encode(_ value: Int64, forKey key: Key) { member(key).json.append(integer: value) }
    func encode(_ value: UInt, forKey key: Key) { member(key).json.append(integer: UInt64(value)) }
    func encode(_ value: UInt8, forKey key: Key) { member(key).json.append(integer: UInt64(value)) }
    func encode(_ value: UInt16, forKey key: Key) { member(key).json.append(integer: UInt64(value)) }
    func encode(_ value: UInt32, forKey key: Key) { member(key).json.append(integer: UInt64(value)) }
    func encode(_ value: UInt64, forKey key: Key) { member(key).json.append(integer: value) }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        try slot.attempt {
            slot.openMember(key.stringValue)
            try slot.encodeNested(value, key: key)
        }
    }

    private func detached(_ key: any CodingKey) -> EncodingSlot {
        slot.openMember(key.stringValue)
        return slot.detached(key)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        detached(key).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        detached(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { detached(PathKey(stringValue: "super")) }
    func superEncoder(forKey key: Key) -> any Encoder { detached(key) }
}

private struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let slot: EncodingSlot

    var codingPath: [any CodingKey] { slot.codingPath }
    var count: Int { slot.elementCount }

    private func element() -> EncodingSlot { slot.openElement() }

    func encodeNil() { element().json.append(literal: "null") }
    func encode(_ value: Bool) { element().json.append(bool: value) }
    func encode(_ value: String) { element().json.append(string: value) }
    func encode(_ value: Double) { element().json.append(double: value) }
    func encode(_ value: Float) { element().json.append(double: Double(value)) }
    func encode(_ value: Int) { element().json.append(integer: Int64(value)) }
    func encode(_ value: Int8) { element().json.append(integer: Int64(value)) }
    func encode(_ value: Int16) { element().json.append(integer: Int64(value)) }
    func encode(_ value: Int32) { element().json.append(integer: Int64(value)) }
    func encode(_ value: Int64) { element().json.append(integer: value) }
    func encode(_ value: UInt) { element().json.append(integer: UInt64(value)) }
    func encode(_ value: UInt8) { element().json.append(integer: UInt64(value)) }
    func encode(_ value: UInt16) { element().json.append(integer: UInt64(value)) }
    func encode(_ value: UInt32) { element().json.append(integer: UInt64(value)) }
    func encode(_ value: UInt64) { element().json.append(integer: value) }

    func encode(_ value: some Encodable) throws {
        try slot.attempt {
            slot.openElement()
            try slot.encodeNested(value, key: PathKey(intValue: slot.elementCount - 1))
        }
    }

    private func detached() -> EncodingSlot {
        slot.openElement()
        return slot.detached(PathKey(intValue: slot.elementCount - 1))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        detached().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { detached().unkeyedContainer() }
    func superEncoder() -> any Encoder { detached() }
}

private struct SingleValueEncoding: SingleValueEncodingContainer {
    let slot: EncodingSlot

    var codingPath: [any CodingKey] { slot.codingPath }

    private func value() -> EncodingSlot { slot.openValue() }

    func encodeNil() { value().json.append(literal: "null") }
    func encode(_ value: Bool) { self.value().json.append(bool: value) }
    func encode(_ value: String) { self.value().json.append(string: value) }
    func encode(_ value: Double) { self.value().json.append(double: value) }
    func encode(_ value: Float) { self.value().json.append(double: Double(value)) }
    func encode(_ value: Int) { self.value().json.append(integer: Int64(value)) }
    func encode(_ value: Int8) { self.value().json.append(integer: Int64(value)) }
    func encode(_ value: Int16) { self.value().json.append(integer: Int64(value)) }
    func encode(_ value: Int32) { self.value().json.append(integer: Int64(value)) }
    func encode(_ value: Int64) { self.value().json.append(integer: value) }
    func encode(_ value: UInt) { self.value().json.append(integer: UInt64(value)) }
    func encode(_ value: UInt8) { self.value().json.append(integer: UInt64(value)) }
    func encode(_ value: UInt16) { self.value().json.append(integer: UInt64(value)) }
    func encode(_ value: UInt32) { self.value().json.append(integer: UInt64(value)) }
    func encode(_ value: UInt64) { self.value().json.append(integer: value) }
    func encode(_ value: some Encodable) throws { try slot.attempt { try slot.encodeWhole(value) } }
}

/// A key that stands in a coding path only.
struct PathKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}
