/// Writes a client's frames: each function appends one whole frame, length and all. `id` asks for an answer.
///
/// Lengths and contents are not checked here; the broker says what it does not take.
package enum RequestEncoder {
    package static func hello(client: String?, id: UInt64?, to bytes: inout [UInt8]) {
        let start = begin("\0\0\0\0{\"type\":\"hello\"", id, &bytes)
        append(",\"protocol\":1", &bytes)
        if let client {
            append(",\"client\":", client, &bytes)
        }
        end(start, &bytes)
    }

    package static func post(_ post: Post, id: UInt64?, to bytes: inout [UInt8]) {
        let start = begin("\0\0\0\0{\"type\":\"post\"", id, &bytes)
        append(",\"name\":", post.name, &bytes)
        if let object = post.object {
            append(",\"object\":", object, &bytes)
        }
        if post.deliversImmediately {
            append(",\"deliverImmediately\":true", &bytes)
        }
        switch post.retention {
        case .none: break
        case .keep: append(",\"retain\":true", &bytes)
        case .clear: append(",\"retain\":\"clear\"", &bytes)
        }
        if let userInfo = post.userInfo {
            append(",\"userInfo\":", &bytes)
            bytes.append(contentsOf: userInfo)
        }
        end(start, &bytes)
    }

    package static func addObserver(
        _ observer: String, names: ObservedNames, object: String?, overflow: Overflow, id: UInt64?,
        to bytes: inout [UInt8]
    ) {
        let start = begin("\0\0\0\0{\"type\":\"addObserver\"", id, &bytes)
        append(",\"observer\":", observer, &bytes)
        switch names {
        case .name(let name): append(",\"name\":", name, &bytes)
        case .matching(let glob): append(",\"match\":", glob, &bytes)
        case .all: break
        }
        if let object {
            append(",\"object\":", object, &bytes)
        }
        if overflow != .wait {
            append(",\"overflow\":", overflow.rawValue, &bytes)
        }
        end(start, &bytes)
    }

    package static func removeObserver(_ observer: String, id: UInt64?, to bytes: inout [UInt8]) {
        let start = begin("\0\0\0\0{\"type\":\"removeObserver\"", id, &bytes)
        append(",\"observer\":", observer, &bytes)
        end(start, &bytes)
    }

    package static func awaitObservers(
        name: String, object: String?, count: UInt64, id: UInt64, to bytes: inout [UInt8]
    ) {
        let start = begin("\0\0\0\0{\"type\":\"awaitObservers\"", id, &bytes)
        append(",\"name\":", name, &bytes)
        if let object {
            append(",\"object\":", object, &bytes)
        }
        append(",\"count\":", &bytes)
        JSONNumber.append(count, to: &bytes)
        end(start, &bytes)
    }

    package static func ping(id: UInt64?, to bytes: inout [UInt8]) {
        let start = begin("\0\0\0\0{\"type\":\"ping\"", id, &bytes)
        end(start, &bytes)
    }

    package static func status(detail: Bool, id: UInt64, to bytes: inout [UInt8]) {
        let start = begin("\0\0\0\0{\"type\":\"status\"", id, &bytes)
        if detail {
            append(",\"detail\":true", &bytes)
        }
        end(start, &bytes)
    }

    package static func stop(id: UInt64?, to bytes: inout [UInt8]) {
        let start = begin("\0\0\0\0{\"type\":\"stop\"", id, &bytes)
        end(start, &bytes)
    }

    /// `opening` begins with room for the length.
    private static func begin(_ opening: StaticString, _ id: UInt64?, _ bytes: inout [UInt8]) -> Int {
        let start = bytes.count
        append(opening, &bytes)
        if let id {
            append(",\"id\":", &bytes)
            JSONNumber.append(id, to: &bytes)
        }
        return start
    }

    private static func end(_ start: Int, _ bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "}"))
        let length = UInt32(clamping: bytes.count - start - 4)
        bytes[start] = UInt8(truncatingIfNeeded: length >> 24)
        bytes[start + 1] = UInt8(truncatingIfNeeded: length >> 16)
        bytes[start + 2] = UInt8(truncatingIfNeeded: length >> 8)
        bytes[start + 3] = UInt8(truncatingIfNeeded: length)
    }

    private static func append(_ literal: StaticString, _ bytes: inout [UInt8]) {
        bytes.append(
            contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    private static func append(_ member: StaticString, _ text: String, _ bytes: inout [UInt8]) {
        append(member, &bytes)
        JSONString.append(text, quotedTo: &bytes)
    }
}
