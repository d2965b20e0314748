/// Writes a client's frames: each function appends one whole frame, length and all. `id` asks for an answer.
///
/// Lengths and contents are not checked here; the broker says what it does not take.
package enum RequestEncoder {
    package static func hello(client: String?, id: UInt64?, to bytes: inout [UInt8]) {
        let start = begin("\0\0\0\0{\"type\":\"hello\"", id, &bytes)
        bytes.append(literal: ",\"protocol\":1")
        if let client {
            append(",\"client\":\"", client, &bytes)
        }
        end(start, &bytes)
    }

    package static func post(_ post: Post, id: UInt64?, to bytes: inout [UInt8]) {
        guard let id else {
            bytes.append(contentsOf: post.frame)
            return
        }
        let start = bytes.count
        bytes.append(contentsOf: post.frame[..<Post.idOffset])
        append(id, &bytes)
        bytes.append(contentsOf: post.frame[Post.idOffset...])
        bytes.setFrameLength(bytes.count - start - 4, at: start)
    }

    package static func addObserver(
        _ observer: String, names: ObservedNames, object: String?, overflow: Overflow, id: UInt64?,
        to bytes: inout [UInt8]
    ) {
        let start = begin("\0\0\0\0{\"type\":\"addObserver\"", id, &bytes)
        append(",\"observer\":\"", observer, &bytes)
        switch names {
        case .name(let name): append(",\"name\":\"", name, &bytes)
        case .matching(let glob): append(",\"match\":\"", glob, &bytes)
        case .all: break
        }
        if let object {
            append(",\"object\":\"", object, &bytes)
        }
        if overflow != .wait {
            append(",\"overflow\":\"", overflow.rawValue, &bytes)
        }
        end(start, &bytes)
    }

    package static func removeObserver(_ observer: String, id: UInt64?, to bytes: inout [UInt8]) {
        let start = begin("\0\0\0\0{\"type\":\"removeObserver\"", id, &bytes)
        append(",\"observer\":\"", observer, &bytes)
        end(start, &bytes)
    }

    package static func awaitObservers(
        name: String, object: String?, count: UInt64, id: UInt64, to bytes: inout [UInt8]
    ) {
        let start = begin("\0\0\0\0{\"type\":\"awaitObservers\"", id, &bytes)
        append(",\"name\":\"", name, &bytes)
        if let object {
            append(",\"object\":\"", object, &bytes)
        }
        bytes.append(literal: ",\"count\":")
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
            bytes.append(literal: ",\"detail\":true")
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
        bytes.append(literal: opening)
        if let id { append(id, &bytes) }
        return start
    }

    static func end(_ start: Int, _ bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "}"))
        bytes.setFrameLength(bytes.count - start - 4, at: start)
    }

    private static func append(_ id: UInt64, _ bytes: inout [UInt8]) {
        bytes.append(literal: ",\"id\":")
        JSONNumber.append(id, to: &bytes)
    }

    private static func append(_ opening: StaticString, _ text: String, _ bytes: inout [UInt8]) {
        JSONString.append(text, between: opening, and: "\"", to: &bytes)
    }
}
