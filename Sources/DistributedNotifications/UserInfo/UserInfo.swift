/// What a notification carries: named values, as a value type.
///
/// A `[AnyHashable: Any]` becomes one with ``init(_:)`` and comes back with ``dictionary``. On the wire it is one
/// JSON object, which any language reads.
public struct UserInfo: Sendable, Hashable {
    /// The values by their names.
    public var values: [String: UserInfoValue]

    /// Takes values by their names.
    public init(values: [String: UserInfoValue] = [:]) {
        self.values = values
    }

    /// Takes what a `Notification` of Foundation carries.
    ///
    /// Accepted are strings, truth values, numbers, dates, data, `NSNull`, nil, arrays and dictionaries with string
    /// keys of these, their `NS` classes, and every ``UserInfoConvertible``.
    ///
    /// - Throws: `invalidValue` with the key path of the first value that can't be sent. `Decimal`, `URL` and
    ///   `UUID` are such values: send what you mean, a string or a number.
    public init(_ userInfo: [AnyHashable: Any]) throws(DistributedNotificationError) {
        values = try FoundationValues.members(userInfo)
    }

    /// Whether it carries nothing.
    public var isEmpty: Bool { values.isEmpty }

    /// The value of that name.
    public subscript(key: String) -> UserInfoValue? {
        get { values[key] }
        set { values[key] = newValue }
    }

    /// The value of that name as a Swift value; nil if there is none or it is of another type.
    public subscript<V: UserInfoConvertible>(key: String, as type: V.Type = V.self) -> V? {
        values[key].flatMap { V(userInfoValue: $0) }
    }

    /// The value of that name as a Swift value.
    ///
    /// - Throws: `undecodable`, with the name as key path, if there is none or it is of another type.
    public func value<V: UserInfoConvertible>(
        for key: String, as type: V.Type = V.self
    ) throws(DistributedNotificationError) -> V {
        guard let value = values[key] else {
            throw DistributedNotificationError(
                code: .undecodable, keyPath: key, description: "no value named \(key)")
        }
        guard let converted = V(userInfoValue: value) else {
            throw DistributedNotificationError(
                code: .undecodable, keyPath: key, description: "\(key) is \(value.kind), no \(type)")
        }
        return converted
    }

    /// Reads the whole as a `Decodable` value, by the rules of the JSON form.
    ///
    /// - Throws: `undecodable` with the coding path of what does not fit.
    public func decode<T: Decodable>(_ type: T.Type) throws(DistributedNotificationError) -> T {
        var json: [UInt8] = []
        try append(to: &json)
        return try MessageDecoder.decode(type, from: json, in: 0..<json.count)
    }

    /// The values as Foundation's `Notification` carries them.
    public var dictionary: [AnyHashable: Any] {
        FoundationValues.dictionary(values)
    }
}

extension UserInfo: ExpressibleByDictionaryLiteral {
    /// Takes named values; of two with the same name the last counts.
    public init(dictionaryLiteral elements: (String, any UserInfoConvertible)...) {
        // Specialised for its types, unlike `init(minimumCapacity:)`.
        values = Dictionary(elements.lazy.map { ($0.0, $0.1.userInfoValue) }, uniquingKeysWith: { $1 })
    }
}

extension UserInfo: CustomStringConvertible {
    /// The values as text, for logs.
    public var description: String { "\(values)" }
}

extension UserInfo {
    /// Appends the JSON object that travels.
    func append(to bytes: inout [UInt8]) throws(DistributedNotificationError) {
        var text = JSONText()
        swap(&text.bytes, &bytes)
        try text.append(members: values, depth: 1)
        swap(&text.bytes, &bytes)
    }

    init(json bytes: [UInt8], in range: Range<Int>) throws(DistributedNotificationError) {
        let document = try JSONDocument(bytes, in: range)
        values = try document.members(at: 0)
    }
}
