/// Where a member's value lies in a frame, and what kind of value it is.
package struct FieldSpan: Hashable, Sendable {
    package enum Kind: UInt8, Hashable, Sendable {
        case object, array, string, escapedString, number, yes, no, null
    }

    package var start: UInt32
    package var end: UInt32
    package var kind: Kind

    package var range: Range<Int> { Int(start)..<Int(end) }
    package var count: Int { Int(end &- start) }

    /// The text between the quotes, escapes as they are; only for strings.
    package var content: Range<Int> { Int(start) + 1..<Int(end) - 1 }
    package var isString: Bool { kind == .string || kind == .escapedString }
}

/// Checks a frame's JSON wholly, once, and notes where the members of its own object lie.
///
/// One scanner is used for one frame after the other; what it noted is valid until the next scan. It allocates nothing
/// unless the frame has members that the protocol doesn't know.
package final class FrameScanner {
    private let depthLimit: Int
    // SAFETY: one slot for each key; a slot is read only if its bit in `present` is set.
    private let fields: UnsafeMutablePointer<FieldSpan>
    private var present: UInt32 = 0
    /// The byte offset of the first member that no frame has.
    package private(set) var firstUnknown: Range<Int>?
    private var unknown: [[UInt8]] = []
    private var manyUnknown: Set<[UInt8]> = []

    /// A text nested deeper than `depth` is refused; at most 256.
    package init(depth: Int = 128) {
        depthLimit = min(depth, OpenContainers.capacity)
        fields = .allocate(capacity: MemberKey.allCases.count)
        fields.initialize(
            repeating: FieldSpan(start: 0, end: 0, kind: .null), count: MemberKey.allCases.count)
    }

    deinit {
        fields.deallocate()
    }

    /// The member's value, whatever its kind; nil if the frame doesn't have it.
    @inline(__always)
    package func span(_ key: MemberKey) -> FieldSpan? {
        present & (1 << UInt32(key.rawValue)) == 0 ? nil : fields[Int(key.rawValue)]
    }

    /// The member's value; nil if the frame doesn't have it or it is null.
    @inline(__always)
    package subscript(_ key: MemberKey) -> FieldSpan? {
        guard let span = span(key), span.kind != .null else { return nil }
        return span
    }

    /// The keys that are present, one bit each at the key's raw value.
    package var presentKeys: UInt32 { present }

    /// Scans a frame. Answers its first fault, or nil if it is a valid object.
    package func scan(_ text: UnsafeRawBufferPointer) -> JSONFault? {
        present = 0
        firstUnknown = nil
        if !unknown.isEmpty {
            unknown.removeAll()
            manyUnknown.removeAll()
        }
        var cursor = JSONCursor(text, depthLimit: depthLimit)
        cursor.skipSpace()
        if !cursor.atEnd, cursor.position.pointee != 0x7B {
            // Valid JSON that is no object has a code of its own; what isn't even valid says so.
            guard cursor.value(level: 0), onlySpaceFollows(&cursor) else { return cursor.fault }
            return JSONFault(.notAnObject, at: 0, .object)
        }
        guard !cursor.atEnd else { return JSONFault(.invalid, at: cursor.offset, .end) }
        if members(&cursor), onlySpaceFollows(&cursor) { return nil }
        return cursor.fault
    }

    private func onlySpaceFollows(_ cursor: inout JSONCursor) -> Bool {
        cursor.skipSpace()
        return cursor.atEnd || cursor.failHere(.trailing)
    }

    /// The frame's own object, from its brace on.
    @inline(__always)
    private func members(_ cursor: inout JSONCursor) -> Bool {
        cursor.position += 1
        cursor.skipSpace()
        if !cursor.atEnd, cursor.position.pointee == 0x7D {
            cursor.position += 1
            return true
        }
        while true {
            guard !cursor.atEnd, cursor.position.pointee == 0x22 else { return cursor.failHere(.key) }
            cursor.position += 1
            let keyStart = cursor.position
            if !cursor.string() { return false }
            let keyCount = cursor.position - keyStart - 1
            var key: MemberKey?
            if !cursor.sawEscape {
                key = MemberKey.spelt(keyStart, count: keyCount, readable: cursor.end - keyStart)
            }
            if key == nil {
                key = unusualKey(
                    UnsafeRawBufferPointer(start: keyStart, count: keyCount), escaped: cursor.sawEscape)
            }
            let keyOffset = keyStart - cursor.start - 1
            if let key {
                if present & (1 << UInt32(key.rawValue)) != 0 {
                    return cursor.fail(.duplicateMember, .duplicate, at: keyOffset)
                }
            } else if !noteUnknown(
                UnsafeRawBufferPointer(start: keyStart, count: keyCount), escaped: cursor.sawEscape,
                at: keyOffset)
            {
                return cursor.fail(.duplicateMember, .duplicate, at: keyOffset)
            }
            if !cursor.colon() { return false }
            guard !cursor.atEnd else { return cursor.fail(.invalid, .end) }
            let valueStart = cursor.offset
            let kind = FieldSpan.Kind(firstByte: cursor.position.pointee)
            if !cursor.value(level: 1) { return false }
            if let key {
                let exact = kind == .string && cursor.sawEscape ? FieldSpan.Kind.escapedString : kind
                fields[Int(key.rawValue)] = FieldSpan(
                    start: UInt32(truncatingIfNeeded: valueStart),
                    end: UInt32(truncatingIfNeeded: cursor.offset), kind: exact)
                present |= 1 << UInt32(key.rawValue)
            }
            cursor.skipSpace()
            guard !cursor.atEnd else { return cursor.fail(.invalid, .end) }
            let byte = cursor.position.pointee
            cursor.position += 1
            if byte == 0x7D { return true }
            if byte != 0x2C {
                cursor.position -= 1
                return cursor.failHere(.commaOrBrace)
            }
            cursor.skipSpace()
        }
    }

    /// A key that is written with escapes.
    @inline(never)
    private func unusualKey(_ raw: UnsafeRawBufferPointer, escaped: Bool) -> MemberKey? {
        guard escaped else { return nil }
        let plain = JSONString.unescaped(raw)
        return plain.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return nil }
            return MemberKey.spelt(base, count: bytes.count, readable: bytes.count)
        }
    }

    /// Answers false if the unknown key was there before.
    @inline(never)
    private func noteUnknown(_ raw: UnsafeRawBufferPointer, escaped: Bool, at offset: Int) -> Bool {
        let plain = escaped ? JSONString.unescaped(raw) : [UInt8](raw)
        if firstUnknown == nil { firstUnknown = offset + 1..<offset + 1 + raw.count }
        if unknown.count < 32 {
            if unknown.contains(plain) { return false }
            unknown.append(plain)
            return true
        }
        if manyUnknown.isEmpty { manyUnknown.formUnion(unknown) }
        return manyUnknown.insert(plain).inserted
    }
}
