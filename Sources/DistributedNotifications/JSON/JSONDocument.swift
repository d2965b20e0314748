import Foundation
import WireProtocol

/// The JSON of one userInfo, checked and indexed.
///
/// One walk over the bytes lays down a flat list of nodes in the order of the text: a container is followed by all
/// that it holds (an object by key, value, key, value), and `next` is where the walk goes on behind it. A value is
/// turned into a Swift value only when somebody asks for it, so that a message costs only the members it reads.
final class JSONDocument: Sendable {
    enum Kind: UInt8 {
        case object, array, string, escapedString, integer, fraction, bool, null
    }

    struct Node {
        var kind: Kind
        /// Bytes of the value, of strings without the quotes.
        var start: Int
        var end: Int
        /// The node behind this one and all in it.
        var next: Int
        /// Members or elements.
        var count: Int
    }

    let bytes: [UInt8]
    let nodes: [Node]

    /// The JSON is one value that lies in a range of the bytes.
    init(_ bytes: [UInt8], in range: Range<Int>) throws(DistributedNotificationError) {
        var parser = JSONParser(bytes, in: range)
        nodes = try parser.parse()
        self.bytes = bytes
    }

    func value(at index: Int) throws(DistributedNotificationError) -> UserInfoValue {
        let node = nodes[index]
        switch node.kind {
        case .null: return .null
        case .bool: return .bool(bytes[node.start] == UInt8(ascii: "t"))
        case .string, .escapedString: return .string(text(at: index))
        case .integer:
            if let number = integer(at: index) { return number }
            return .double(try finiteDouble(at: index))
        case .fraction: return .double(try finiteDouble(at: index))
        case .array: return .array(try elements(at: index))
        case .object:
            if let tagged = tagged(at: index) { return tagged }
            return .dictionary(try members(at: index))
        }
    }

    private func elements(at index: Int) throws(DistributedNotificationError) -> [UserInfoValue] {
        var elements: [UserInfoValue] = []
        elements.reserveCapacity(nodes[index].count)
        var child = index + 1
        while child < nodes[index].next {
            do {
                elements.append(try value(at: child))
            } catch {
                throw error.under(index: elements.count)
            }
            child = nodes[child].next
        }
        return elements
    }

    /// The members of an object as a dictionary, even where it could be read as a tagged value.
    func members(at index: Int) throws(DistributedNotificationError) -> [String: UserInfoValue] {
        guard nodes[index].kind == .object else {
            throw DistributedNotificationError(code: .undecodable, description: "not an object")
        }
        var members: [(String, UserInfoValue)] = []
        members.reserveCapacity(nodes[index].count)
        var child = index + 1
        while child < nodes[index].next {
            let key = key(at: child, of: index)
            do {
                members.append((key, try value(at: child + 1)))
            } catch {
                throw error.under(key: key)
            }
            child = nodes[child + 1].next
        }
        return Dictionary(members, uniquingKeysWith: { $1 })
    }

    /// The value of an object's member; of several with the same name, the last one's.
    func value(named name: String, of object: Int) -> Int? {
        var found: Int?
        var key = object + 1
        while key < nodes[object].next {
            if isKey(key, name, isOnly: nodes[object].count == 1) { found = key + 1 }
            key = nodes[key + 1].next
        }
        return found
    }

    private func isKey(_ index: Int, _ name: String, isOnly: Bool) -> Bool {
        let node = nodes[index]
        guard node.kind == .string, !isOnly else { return key(text(at: index), isOnly: isOnly) == name }
        let length = node.end - node.start
        guard name.utf8.count == length else { return false }
        var position = node.start
        for byte in name.utf8 {
            if bytes[position] != byte { return false }
            position += 1
        }
        return true
    }

    private func key(_ text: String, isOnly: Bool) -> String {
        isOnly && text.hasPrefix("$$") ? String(text.dropFirst()) : text
    }

    /// A member's name, with the `$` taken off that an object with one member may have got.
    func key(at keyIndex: Int, of object: Int) -> String {
        key(text(at: keyIndex), isOnly: nodes[object].count == 1)
    }

    /// The path from the top to a node that is a value.
    func codingPath(of index: Int) -> [any CodingKey] {
        var path: [any CodingKey] = []
        var container = 0
        while container < index {
            let isObject = nodes[container].kind == .object
            var child = container + 1
            var position = 0
            while true {
                let value = isObject ? child + 1 : child
                if index < nodes[value].next {
                    path.append(
                        isObject
                            ? PathKey(stringValue: key(at: child, of: container))
                            : PathKey(intValue: position))
                    container = value
                    break
                }
                child = nodes[value].next
                position += 1
            }
        }
        return path
    }

    /// A value as it stands in the JSON.
    func source(at index: Int) -> String {
        String(decoding: bytes[nodes[index].start..<nodes[index].end], as: UTF8.self)
    }

    func text(at index: Int) -> String {
        let node = nodes[index]
        guard node.kind == .escapedString else { return source(at: index) }
        return String(
            decoding: bytes[node.start..<node.end].withUnsafeBytes(JSONString.unescaped), as: UTF8.self)
    }

    /// The date, data or number that an object with one member stands for.
    func tagged(at index: Int) -> UserInfoValue? {
        let node = nodes[index]
        guard node.kind == .object, node.count == 1, nodes[index + 2].kind == .string else { return nil }
        let key = bytes[nodes[index + 1].start..<nodes[index + 1].end]
        guard key.first == UInt8(ascii: "$") else { return nil }
        switch String(decoding: key, as: UTF8.self) {
        case "$date": return Timestamp.date(of: text(at: index + 2)).map(UserInfoValue.date)
        case "$data": return Data(base64Encoded: text(at: index + 2)).map(UserInfoValue.data)
        case "$double":
            switch text(at: index + 2) {
            case "nan": return .double(.nan)
            case "inf": return .double(.infinity)
            case "-inf": return .double(-.infinity)
            default: return nil
            }
        default: return nil
        }
    }

    /// A number of digits only, if `Int64` or `UInt64` holds it.
    func integer(at index: Int) -> UserInfoValue? {
        let node = nodes[index]
        let isNegative = bytes[node.start] == UInt8(ascii: "-")
        var magnitude: UInt64 = 0
        for position in (isNegative ? node.start + 1 : node.start)..<node.end {
            let (tenfold, overflows) = magnitude.multipliedReportingOverflow(by: 10)
            let digit = UInt64(bytes[position] &- UInt8(ascii: "0"))
            let (sum, carries) = tenfold.addingReportingOverflow(digit)
            guard !overflows, !carries else { return nil }
            magnitude = sum
        }
        if isNegative {
            return magnitude <= Int64.min.magnitude ? .int(Int64(truncatingIfNeeded: 0 &- magnitude)) : nil
        }
        return Int64(exactly: magnitude).map(UserInfoValue.int) ?? .uint(magnitude)
    }

    /// The number nearest to the text; infinite where it is beyond what a Double holds.
    func double(at index: Int) -> Double {
        Double(source(at: index)) ?? .infinity
    }

    private func finiteDouble(at index: Int) throws(DistributedNotificationError) -> Double {
        let number = double(at: index)
        guard number.isFinite else {
            throw DistributedNotificationError(
                code: .undecodable, keyPath: "", description: "a number beyond what a Double holds")
        }
        return number
    }
}
