public import Foundation

/// A value that a notification's userInfo can hold: a property list, and null.
///
/// What it becomes on the wire is JSON, and each value comes out as it went in: an integer stays an integer
/// (`5`), a floating-point number stays one (`5.0`), dates and data travel as objects with one member, `$date`
/// or `$data`. Integers that fit into `Int64` come back as ``int(_:)``, whatever they were sent as; the two integer
/// cases are equal where their numbers are.
public enum UserInfoValue: Sendable {
    /// Null, `NSNull`.
    case null
    /// A truth value; never equal to a number.
    case bool(Bool)
    /// A whole number.
    case int(Int64)
    /// A whole number, for those beyond `Int64.max`.
    case uint(UInt64)
    /// A floating-point number; NaN and the infinities travel too.
    case double(Double)
    /// A text.
    case string(String)
    /// A point in time, from year 1 to 9999, to the nanosecond or to what a `Date` can tell apart.
    case date(Date)
    /// Bytes.
    case data(Data)
    /// An ordered list.
    case array([UserInfoValue])
    /// Named values. Two keys that are canonically equivalent are one.
    case dictionary([String: UserInfoValue])
}

extension UserInfoValue: Hashable {
    /// Whether both are the same kind of value and equal; all whole numbers are one kind.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        switch (lhs, rhs) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.int(let a), .int(let b)): a == b
        case (.uint(let a), .uint(let b)): a == b
        case (.int(let a), .uint(let b)), (.uint(let b), .int(let a)): a == b
        case (.double(let a), .double(let b)): a == b
        case (.string(let a), .string(let b)): a == b
        case (.date(let a), .date(let b)): a == b
        case (.data(let a), .data(let b)): a == b
        case (.array(let a), .array(let b)): a == b
        case (.dictionary(let a), .dictionary(let b)): a == b
        default: false
        }
    }

    /// Feeds the value to a hasher.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .int(let value): hasher.combine(value)
        case .uint(let value):
            if let small = Int64(exactly: value) { hasher.combine(small) } else { hasher.combine(value) }
        case .double(let value): hasher.combine(value)
        case .string(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value)
        case .data(let value): hasher.combine(value)
        case .array(let value): hasher.combine(value)
        case .dictionary(let value): hasher.combine(value)
        }
    }
}

extension UserInfoValue: CustomStringConvertible {
    /// The value as text, for logs.
    public var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .uint(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): value.debugDescription
        case .date(let value): Timestamp.text(of: value) ?? "\(value)"
        case .data(let value): "\(value.count) bytes"
        case .array(let value): "\(value)"
        case .dictionary(let value): "\(value)"
        }
    }

    /// What kind of value it is, for messages.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a truth value"
        case .int, .uint: "a whole number"
        case .double: "a floating-point number"
        case .string: "a string"
        case .date: "a date"
        case .data: "data"
        case .array: "an array"
        case .dictionary: "a dictionary"
        }
    }
}
