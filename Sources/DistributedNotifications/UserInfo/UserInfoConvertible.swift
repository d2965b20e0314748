public import Foundation

/// A type whose values a ``UserInfo`` can hold and give back.
///
/// Reading is exact: a number is read as any numeric type that can hold just that number (`5` and `5.0` are both
/// the integer 5), never rounded, and never from a truth value. An enum with raw values conforms by declaring it.
public protocol UserInfoConvertible: Sendable {
    /// The value as it is kept in a userInfo.
    var userInfoValue: UserInfoValue { get }
    /// Reads it back; nil if that value is none of this type.
    init?(userInfoValue: UserInfoValue)
}

extension UserInfoValue: UserInfoConvertible {
    /// Itself.
    public var userInfoValue: UserInfoValue { self }
    /// Takes any value as it is.
    public init?(userInfoValue: UserInfoValue) { self = userInfoValue }
}

extension Bool: UserInfoConvertible {
    /// ``UserInfoValue/bool(_:)``.
    public var userInfoValue: UserInfoValue { .bool(self) }
    /// Reads a truth value; a number is none.
    public init?(userInfoValue: UserInfoValue) {
        guard case .bool(let value) = userInfoValue else { return nil }
        self = value
    }
}

extension UserInfoConvertible where Self: FixedWidthInteger {
    /// ``UserInfoValue/int(_:)``, or ``UserInfoValue/uint(_:)`` beyond `Int64.max`.
    public var userInfoValue: UserInfoValue {
        Int64(exactly: self).map(UserInfoValue.int) ?? .uint(UInt64(truncatingIfNeeded: self))
    }
    /// Reads a number that this type holds exactly.
    public init?(userInfoValue: UserInfoValue) {
        switch userInfoValue {
        case .int(let value): self.init(exactly: value)
        case .uint(let value): self.init(exactly: value)
        case .double(let value): self.init(exactly: value)
        default: return nil
        }
    }
}

extension Int: UserInfoConvertible {}
extension Int8: UserInfoConvertible {}
extension Int16: UserInfoConvertible {}
extension Int32: UserInfoConvertible {}
extension Int64: UserInfoConvertible {}
extension UInt: UserInfoConvertible {}
extension UInt8: UserInfoConvertible {}
extension UInt16: UserInfoConvertible {}
extension UInt32: UserInfoConvertible {}
extension UInt64: UserInfoConvertible {}

extension Double: UserInfoConvertible {
    /// ``UserInfoValue/double(_:)``.
    public var userInfoValue: UserInfoValue { .double(self) }
    /// Reads a number; a whole one only if no digit is lost.
    public init?(userInfoValue: UserInfoValue) {
        switch userInfoValue {
        case .double(let value): self = value
        case .int(let value): self.init(exactly: value)
        case .uint(let value): self.init(exactly: value)
        default: return nil
        }
    }
}

extension Float: UserInfoConvertible {
    /// ``UserInfoValue/double(_:)``.
    public var userInfoValue: UserInfoValue { .double(Double(self)) }
    /// Reads a number that a `Float` holds exactly: one that was sent as a `Float`. Read others as `Double`.
    public init?(userInfoValue: UserInfoValue) {
        guard let wide = Double(userInfoValue: userInfoValue) else { return nil }
        if wide.isNaN { self = .nan } else { self.init(exactly: wide) }
    }
}

extension String: UserInfoConvertible {
    /// ``UserInfoValue/string(_:)``.
    public var userInfoValue: UserInfoValue { .string(self) }
    /// Reads a string.
    public init?(userInfoValue: UserInfoValue) {
        guard case .string(let value) = userInfoValue else { return nil }
        self = value
    }
}

extension Date: UserInfoConvertible {
    /// ``UserInfoValue/date(_:)``.
    public var userInfoValue: UserInfoValue { .date(self) }
    /// Reads a date.
    public init?(userInfoValue: UserInfoValue) {
        guard case .date(let value) = userInfoValue else { return nil }
        self = value
    }
}

extension Data: UserInfoConvertible {
    /// ``UserInfoValue/data(_:)``.
    public var userInfoValue: UserInfoValue { .data(self) }
    /// Reads data.
    public init?(userInfoValue: UserInfoValue) {
        guard case .data(let value) = userInfoValue else { return nil }
        self = value
    }
}

extension Array: UserInfoConvertible where Element: UserInfoConvertible {
    /// ``UserInfoValue/array(_:)``.
    public var userInfoValue: UserInfoValue { .array(map(\.userInfoValue)) }
    /// Reads an array all of whose elements can be read.
    public init?(userInfoValue: UserInfoValue) {
        guard case .array(let values) = userInfoValue else { return nil }
        var elements: [Element] = []
        elements.reserveCapacity(values.count)
        for value in values {
            guard let element = Element(userInfoValue: value) else { return nil }
            elements.append(element)
        }
        self = elements
    }
}

extension Dictionary: UserInfoConvertible where Key == String, Value: UserInfoConvertible {
    /// ``UserInfoValue/dictionary(_:)``.
    public var userInfoValue: UserInfoValue { .dictionary(mapValues(\.userInfoValue)) }
    /// Reads a dictionary all of whose values can be read.
    public init?(userInfoValue: UserInfoValue) {
        guard case .dictionary(let values) = userInfoValue else { return nil }
        var members: [String: Value] = [:]
        members.reserveCapacity(values.count)
        for (key, value) in values {
            guard let member = Value(userInfoValue: value) else { return nil }
            members[key] = member
        }
        self = members
    }
}

extension Optional: UserInfoConvertible where Wrapped: UserInfoConvertible {
    /// The value, or ``UserInfoValue/null``.
    public var userInfoValue: UserInfoValue { self?.userInfoValue ?? .null }
    /// Reads a value, or nil from null.
    public init?(userInfoValue: UserInfoValue) {
        if case .null = userInfoValue {
            self = .none
        } else if let wrapped = Wrapped(userInfoValue: userInfoValue) {
            self = .some(wrapped)
        } else {
            return nil
        }
    }
}

extension UserInfoConvertible where Self: RawRepresentable, RawValue: UserInfoConvertible {
    /// The raw value.
    public var userInfoValue: UserInfoValue { rawValue.userInfoValue }
    /// Reads a raw value that this type has.
    public init?(userInfoValue: UserInfoValue) {
        guard let raw = RawValue(userInfoValue: userInfoValue) else { return nil }
        self.init(rawValue: raw)
    }
}
