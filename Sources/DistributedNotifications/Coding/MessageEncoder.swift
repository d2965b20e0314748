import Foundation

/// Encodes `Encodable` values in the JSON form of a userInfo, straight into the bytes that travel.
///
/// Values that are encoded one after the other, and that is what compilers synthesise, are written in place. A
/// nested container that is asked for by name may be filled later, or in turns with others: it gets a text of its
/// own, which is put in where it belongs when all is done.
enum MessageEncoder {
    /// - Throws: `invalidValue` with the coding path of what can't be sent, or if the value is no object.
    static func encode(_ value: some Encodable) throws(DistributedNotificationError) -> [UInt8] {
        let slot = EncodingSlot(parent: nil, key: nil, text: EncodingText())
        slot.text.json.bytes.reserveCapacity(128)
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
        let bytes = slot.text.spliced()
        guard bytes.first == UInt8(ascii: "{") else {
            throw DistributedNotificationError.invalidValue("\(type(of: value)) does not encode to an object")
        }
        return bytes
    }
}

/// A text under construction, and the texts that are to be put into it.
private final class EncodingText {
    // SAFETY: each access ends before a user's code, or another method here, runs.
    @exclusivity(unchecked) var json = JSONText()
    @exclusivity(unchecked) private var parts: [(offset: Int, text: EncodingText)] = []
    @exclusivity(unchecked) private var owners: [EncodingSlot] = []

    /// A slot whose text will stand where this one ends now.
    func detachedSlot(of parent: EncodingSlot, key: (any CodingKey)?) -> EncodingSlot {
        let slot = EncodingSlot(parent: parent, key: key, text: EncodingText())
        parts.append((json.bytes.count, slot.text))
        owners.append(slot)
        return slot
    }

    func spliced() -> [UInt8] {
        guard !parts.isEmpty else { return json.bytes }
        for owner in owners { owner.close() }
        var bytes: [UInt8] = []
        var copied = 0
        for (offset, text) in parts {
            bytes += json.bytes[copied..<offset]
            bytes += text.spliced()
            copied = offset
        }
        return bytes + json.bytes[copied...]
    }

    /// What was put in behind `offset` moves with the text.
    func insertDollar(at offset: Int) {
        json.bytes.insert(UInt8(ascii: "$"), at: offset)
        for index in parts.indices where parts[index].offset >= offset {
            parts[index].offset += 1
        }
    }
}

/// The place of one value, and the `Encoder` that fills it.
private final class EncodingSlot: Encoder {
    private enum Content {
        case nothing
        case object(count: Int, firstKey: Int)
        case array(count: Int)
        case value
    }

    private let parent: EncodingSlot?
    private let key: (any CodingKey)?
    // SAFETY: each access ends before another method is called.
    @exclusivity(unchecked) private var content = Content.nothing
    let text: EncodingText

    init(parent: EncodingSlot?, key: (any CodingKey)?, text: EncodingText) {
        self.parent = parent
        self.key = key
        self.text = text
    }

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

    func openMember(_ name: String) {
        guard case .object(let count, var firstKey) = content else {
            preconditionFailure("a member without its object")
        }
        if count > 0 {
            text.json.bytes.append(UInt8(ascii: ","))
        } else {
            firstKey = text.json.bytes.count + 1
        }
        content = .object(count: count + 1, firstKey: firstKey)
        text.json.append(key: name)
    }

    var elementCount: Int {
        guard case .array(let count) = content else { preconditionFailure("an element without its array") }
        return count
    }

    func openElement() {
        let count = elementCount
        if count > 0 { text.json.bytes.append(UInt8(ascii: ",")) }
        content = .array(count: count + 1)
    }

    func openValue() {
        guard case .nothing = content else { preconditionFailure("a value is encoded twice") }
        content = .value
    }

    func close() {
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
        let slot = EncodingSlot(parent: self, key: key(), text: text)
        try slot.encodeWhole(value)
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

    private func member(_ key: Key) -> EncodingText {
        slot.openMember(key.stringValue)
        return slot.text
    }

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
        slot.openMember(key.stringValue)
        try slot.encodeNested(value, key: key)
    }

    private func detached(_ key: any CodingKey) -> EncodingSlot {
        slot.openMember(key.stringValue)
        return slot.text.detachedSlot(of: slot, key: key)
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

    private func element() -> EncodingText {
        slot.openElement()
        return slot.text
    }

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
        slot.openElement()
        try slot.encodeNested(value, key: PathKey(intValue: slot.elementCount - 1))
    }

    private func detached() -> EncodingSlot {
        slot.openElement()
        return slot.text.detachedSlot(of: slot, key: PathKey(intValue: slot.elementCount - 1))
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

    private func value() -> EncodingText {
        slot.openValue()
        return slot.text
    }

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
    func encode(_ value: some Encodable) throws { try slot.encodeWhole(value) }
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
