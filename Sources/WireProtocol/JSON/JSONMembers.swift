/// Walks the members of an object, or the elements of an array, in JSON that was checked before.
///
/// It makes no strings and no dictionaries: keys and values come as ranges of the text. On text that was never checked
/// it ends early, but doesn't trap.
package struct JSONMembers {
    package struct Member {
        /// The key's content between the quotes, escapes as they are; empty for an element of an array.
        package var key: Range<Int>
        package var keyIsEscaped: Bool
        package var value: FieldSpan
    }

    private let text: UnsafeRawBufferPointer
    private let origin: Int
    private var cursor: JSONCursor
    private var isObject = false
    private var isFirst = true
    private var ended = false

    /// Walks the container at `range` of `text`; all ranges that come out are relative to `text`.
    package init(_ text: UnsafeRawBufferPointer, at range: Range<Int>) {
        self.text = text
        origin = range.lowerBound
        cursor = JSONCursor(
            UnsafeRawBufferPointer(rebasing: text[range]), depthLimit: OpenContainers.capacity)
        cursor.skipSpace()
        guard !cursor.atEnd else {
            ended = true
            return
        }
        let byte = cursor.position.pointee
        isObject = byte == 0x7B
        ended = !isObject && byte != 0x5B
        cursor.position += 1
    }

    package mutating func next() -> Member? {
        guard !ended else { return nil }
        let member = advance()
        if member == nil { ended = true }
        return member
    }

    private mutating func advance() -> Member? {
        cursor.skipSpace()
        guard !cursor.atEnd else { return nil }
        if !isFirst {
            guard cursor.position.pointee == 0x2C else { return nil }
            cursor.position += 1
            cursor.skipSpace()
        } else if cursor.position.pointee == (isObject ? 0x7D : 0x5D) {
            return nil
        }
        isFirst = false
        var key = 0..<0
        var escaped = false
        if isObject {
            guard !cursor.atEnd, cursor.position.pointee == 0x22 else { return nil }
            cursor.position += 1
            let start = cursor.offset
            guard cursor.string() else { return nil }
            escaped = cursor.sawEscape
            key = origin + start..<origin + cursor.offset - 1
            guard cursor.colon() else { return nil }
        }
        guard !cursor.atEnd else { return nil }
        let start = cursor.offset
        let byte = cursor.position.pointee
        guard cursor.value(level: 1) else { return nil }
        var kind = FieldSpan.Kind(firstByte: byte)
        if kind == .string, cursor.sawEscape { kind = .escapedString }
        let span = FieldSpan(
            start: UInt32(truncatingIfNeeded: origin + start),
            end: UInt32(truncatingIfNeeded: origin + cursor.offset), kind: kind)
        return Member(key: key, keyIsEscaped: escaped, value: span)
    }
}

/// Checks a JSON text on its own.
package enum JSONText {
    /// The first fault of a text that should be one JSON value, or nil.
    package static func fault(in text: UnsafeRawBufferPointer, depth: Int = 128) -> JSONFault? {
        var cursor = JSONCursor(text, depthLimit: min(depth, OpenContainers.capacity))
        cursor.skipSpace()
        guard cursor.value(level: 0) else { return cursor.fault }
        cursor.skipSpace()
        return cursor.atEnd || cursor.failHere(.trailing) ? nil : cursor.fault
    }
}
