import Foundation
import WireProtocol

/// Writes the JSON form of a userInfo into one growing buffer.
///
/// Numbers keep their kind (`5` and `5.0`), what JSON lacks travels as an object with one member (`$double`,
/// `$date`, `$data`), and so that a dictionary is never taken for one of those, the key of a dictionary with one
/// member gets one more `$` if it begins with one.
struct JSONText {
    var bytes: [UInt8] = []

    /// What the reader goes down to; a broker's own limit is lower.
    static let depthLimit = 512

    mutating func append(_ value: UserInfoValue, depth: Int) throws(DistributedNotificationError) {
        switch value {
        case .null: append(literal: "null")
        case .bool(let value): append(bool: value)
        case .int(let value): append(integer: value)
        case .uint(let value): append(integer: value)
        case .double(let value): append(double: value)
        case .string(let value): append(string: value)
        case .date(let value): try append(date: value)
        case .data(let value): append(data: value)
        case .array(let elements): try append(elements: elements, depth: depth + 1)
        case .dictionary(let members): try append(members: members, depth: depth + 1)
        }
    }

    mutating func append(members: [String: UserInfoValue], depth: Int) throws(DistributedNotificationError) {
        guard depth <= Self.depthLimit else { throw .invalidValue("nested too deep") }
        bytes.append(UInt8(ascii: "{"))
        var isFirst = true
        let escapesDollar = members.count == 1
        for (key, value) in members {
            append(key: key, isFirst: isFirst, escapingDollar: escapesDollar)
            isFirst = false
            do {
                try append(value, depth: depth)
            } catch {
                throw error.under(key: key)
            }
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private mutating func append(
        elements: [UserInfoValue], depth: Int
    ) throws(DistributedNotificationError) {
        guard depth <= Self.depthLimit else { throw .invalidValue("nested too deep") }
        bytes.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            do {
                try append(element, depth: depth)
            } catch {
                throw error.under(index: index)
            }
        }
        bytes.append(UInt8(ascii: "]"))
    }

    mutating func append(key: String, isFirst: Bool, escapingDollar: Bool = false) {
        let start = bytes.count
        JSONString.append(key: key, isFirst: isFirst, to: &bytes)
        if escapingDollar && bytes[start + 1] == UInt8(ascii: "$") {
            bytes.insert(UInt8(ascii: "$"), at: start + 1)
        }
    }

    mutating func append(literal: StaticString) {
        bytes.append(literal: literal)
    }

    mutating func append(bool: Bool) {
        append(literal: bool ? "true" : "false")
    }

    mutating func append(integer: Int64) {
        if integer < 0 { bytes.append(UInt8(ascii: "-")) }
        append(integer: integer.magnitude)
    }

    mutating func append(integer: UInt64) {
        JSONNumber.append(integer, to: &bytes)
    }

    mutating func append(double: Double) {
        if double.isFinite {
            bytes.append(contentsOf: double.description.utf8)
        } else {
            let word = double.isNaN ? "nan" : double < 0 ? "-inf" : "inf"
            append(tag: "$double", text: word)
        }
    }

    mutating func append(date: Date) throws(DistributedNotificationError) {
        guard let text = Timestamp.text(of: date) else {
            throw .invalidValue("a date outside the years 1 to 9999 can't be sent")
        }
        append(tag: "$date", text: text)
    }

    mutating func append(data: Data) {
        append(tag: "$data", text: data.base64EncodedString())
    }

    private mutating func append(tag: StaticString, text: String) {
        append(literal: "{\"")
        append(literal: tag)
        append(literal: "\":\"")
        bytes.append(contentsOf: text.utf8)
        append(literal: "\"}")
    }

    mutating func append(string: String) {
        JSONString.append(string, quotedTo: &bytes)
    }
}
