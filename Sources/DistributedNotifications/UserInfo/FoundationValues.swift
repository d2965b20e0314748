import Foundation

/// Between `Any` and ``UserInfoValue``.
///
/// The dynamic type is looked at before any cast: on Linux a cast bridges as it likes, an `NSNumber` to `Bool`
/// among others, and what was sent as 1 would arrive as true.
enum FoundationValues {
    static func members(_ dictionary: [AnyHashable: Any])
        throws(DistributedNotificationError) -> [String: UserInfoValue]
    {
        var members: [String: UserInfoValue] = Dictionary(minimumCapacity: dictionary.count)
        for (key, value) in dictionary {
            guard let name = key.base as? String else {
                throw DistributedNotificationError.invalidValue(
                    "a key must be a string, not \(type(of: key.base))"
                ).under(key: String(describing: key.base))
            }
            do {
                members[name] = try self.value(value)
            } catch {
                throw error.under(key: name)
            }
        }
        return members
    }

    static func value(_ any: Any) throws(DistributedNotificationError) -> UserInfoValue {
        if let string = any as? String { return .string(string) }
        if let number = any as? NSNumber, type(of: any) is NSNumber.Type { return try self.number(number) }
        if let convertible = any as? any UserInfoConvertible { return convertible.userInfoValue }
        if let optional = any as? any AnyOptional {
            guard let wrapped = optional.wrapped else { return .null }
            return try value(wrapped)
        }
        switch any {
        case is NSNull: return .null
        case let date as NSDate: return .date(date as Date)
        case let data as NSData: return .data(data as Data)
        case let number as CGFloat where type(of: any) == CGFloat.self: return .double(Double(number))
        case let array as [Any]: return .array(try elements(array))
        case let dictionary as [AnyHashable: Any]: return .dictionary(try members(dictionary))
        default: throw .invalidValue("\(type(of: any)) is no type that a notification can carry")
        }
    }

    private static func elements(_ array: [Any]) throws(DistributedNotificationError) -> [UserInfoValue] {
        var elements: [UserInfoValue] = []
        elements.reserveCapacity(array.count)
        for (index, element) in array.enumerated() {
            do {
                elements.append(try value(element))
            } catch {
                throw error.under(index: index)
            }
        }
        return elements
    }

    private static func number(_ number: NSNumber) throws(DistributedNotificationError) -> UserInfoValue {
        if number is NSDecimalNumber {
            throw .invalidValue("a decimal number can't be sent: send a string or a Double")
        }
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "c"), UInt8(ascii: "B"): return .bool(number.boolValue)
        case UInt8(ascii: "f"), UInt8(ascii: "d"): return .double(number.doubleValue)
        case UInt8(ascii: "Q"): return number.uint64Value.userInfoValue
        default: return .int(number.int64Value)
        }
    }

    static func dictionary(_ members: [String: UserInfoValue]) -> [AnyHashable: Any] {
        var dictionary: [AnyHashable: Any] = Dictionary(minimumCapacity: members.count)
        for (key, value) in members {
            dictionary[key] = any(value)
        }
        return dictionary
    }

    static func any(_ value: UserInfoValue) -> Any {
        switch value {
        case .null: NSNull()
        case .bool(let value): value
        case .int(let value): Int(value)
        case .uint(let value): UInt(value)
        case .double(let value): value
        case .string(let value): value
        case .date(let value): value
        case .data(let value): value
        case .array(let values): values.map(any)
        case .dictionary(let members):
            Dictionary(uniqueKeysWithValues: members.map { ($0.key, any($0.value)) })
        }
    }
}

/// Sees through the optional that an `Any` may hide.
private protocol AnyOptional {
    var wrapped: Any? { get }
}

extension Optional: AnyOptional {
    fileprivate var wrapped: Any? { self }
}
