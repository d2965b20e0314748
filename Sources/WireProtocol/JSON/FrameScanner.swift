/// Where a member's value lies in a frame, and what kind of value it is.
package struct FieldSpan: Hashable, Sendable {
    package enum Kind: UInt8, Hashable, Sendable {
        case object, array, string, escapedString, number, yes, no, null
    }

    package var start: UInt32
    package var end: UInt32
    package var kind: Kind

    @inlinable @inline(always) package var range: Range<Int> { Int(start)..<Int(end) }
    @inlinable @inline(always) package var count: Int { Int(end &- start) }

    /// The text between the quotes, escapes as they are; only for strings.
    @inlinable @inline(always) package var content: Range<Int> { Int(start) + 1..<Int(end) - 1 }
    /// Stands for a value that is not there.
    @inlinable @inline(always) package static var none: FieldSpan { FieldSpan(start: 0, end: 0, kind: .null) }
    @inlinable @inline(always) package var isString: Bool {
        switch kind {
        case .string, .escapedString: true
        case .object, .array, .number, .yes, .no, .null: false
        }
    }
}

/// Where the parts of a usual post lie.
package struct PlainPost {
    package var name: FieldSpan
    /// `none` if there is none; so with userInfo.
    package var object: FieldSpan
    package var userInfo: FieldSpan
    package var id: UInt64

    @inlinable package init(
        name: FieldSpan, object: FieldSpan = .none, userInfo: FieldSpan = .none, id: UInt64 = PlainPost.noID
    ) {
        self.name = name
        self.object = object
        self.userInfo = userInfo
        self.id = id
    }

    /// Greater than every id.
    @inlinable @inline(always) package static var noID: UInt64 { .max }
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
    private var unknownStart = -1
    private var unknownEnd = -1
    private var unknown: [[UInt8]] = []
    private var manyUnknown: Set<[UInt8]> = []

    /// A text nested deeper than `depth` is refused; at most 256.
    package init(depth: Int = 128) {
        depthLimit = min(depth, OpenContainers.capacity)
        post = .allocate(capacity: 1)
        head = RepeatedHead(of: post)
        fields = .allocate(capacity: MemberKey.allCases.count)
        fields.initialize(
            repeating: FieldSpan(start: 0, end: 0, kind: .null), count: MemberKey.allCases.count)
    }

    deinit {
        fields.deallocate()
        post.deallocate()
    }

    /// The member's value, whatever its kind; nil if the frame doesn't have it.
    package func span(_ key: MemberKey) -> FieldSpan? {
        present & (1 << UInt32(key.rawValue)) == 0 ? nil : fields[Int(key.rawValue)]
    }

    /// The member's value; nil if the frame doesn't have it or it is null.
    package subscript(_ key: MemberKey) -> FieldSpan? {
        guard let span = span(key) else { return nil }
        if case .null = span.kind { return nil }
        return span
    }

    /// Where the first member's name lies that no frame has.
    package var firstUnknown: Range<Int>? { unknownStart < 0 ? nil : unknownStart..<unknownEnd }

    /// The keys that are present, one bit each at the key's raw value.
    package var presentKeys: UInt32 { present }

    package enum Finding {
        case fault(JSONFault)
        /// A valid object.
        case frame
        /// A valid object that is a usual post: `post` holds its parts.
        case plainPost
        /// The same, and its name and object are those of the last frame.
        case plainPostAgain
    }

    /// The parts of the last usual post.
    package let post: UnsafeMutablePointer<PlainPost>

    private let head: RepeatedHead

    /// Scans a frame.
    ///
    /// Where it begins as the last one did, up to its userInfo, only the rest is scanned.
    package func scan(_ text: UnsafeRawBufferPointer) -> Finding {
        if head.isRepeated(in: text) {
            if let end = endOfUserInfo(text, from: post.pointee.userInfo.start) {
                post.pointee.userInfo.end = end
                return .plainPostAgain
            }
        } else {
            let likeness = head.match(text)
            if likeness != .none, let end = endOfUserInfo(text, from: post.pointee.userInfo.start) {
                post.pointee.userInfo.end = end
                return likeness == .same ? .plainPostAgain : .plainPost
            }
        }
        let finding = scanWhole(text)
        if case .plainPost = finding {
            head.remember(text, id: span(.id)?.range)
        } else {
            head.forget()
        }
        return finding
    }

    /// Scans a userInfo that only the closing brace may follow.
    @inline(always)
    private func endOfUserInfo(_ text: UnsafeRawBufferPointer, from start: UInt32) -> UInt32? {
        guard let base = text.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
        if depthLimit > 1, let end = plainObjectEnd(from: base + Int(start), to: base + text.count),
            end - base == text.count &- 1, end.pointee == 0x7D
        {
            return UInt32(truncatingIfNeeded: end - base)
        }
        var cursor = JSONCursor(text, depthLimit: depthLimit)
        cursor.position = cursor.start + Int(start)
        guard cursor.position.pointee == 0x7B, cursor.container(level: 1), cursor.end - cursor.position == 1,
            cursor.position.pointee == 0x7D
        else { return nil }
        return UInt32(truncatingIfNeeded: cursor.offset)
    }

    private func scanWhole(_ text: UnsafeRawBufferPointer) -> Finding {
        present = 0
        if unknownStart >= 0 { forgetUnknown() }
        var cursor = JSONCursor(text, depthLimit: depthLimit)
        var found: UInt32 = 0
        cursor.skipSpace()
        if !cursor.atEnd, cursor.position.pointee == 0x7B {
            guard members(&cursor, &found), onlySpaceFollows(&cursor) else {
                return .fault(cursor.firstFault)
            }
            present = found
            return isPlainPost(found, cursor.start) ? .plainPost : .frame
        }
        guard !cursor.atEnd else { return .fault(JSONFault(.invalid, at: cursor.offset, .end)) }
        // Valid JSON that is no object has a code of its own; what isn't even valid says so.
        guard cursor.value(level: 0), onlySpaceFollows(&cursor) else { return .fault(cursor.firstFault) }
        return .fault(JSONFault(.notAnObject, at: 0, .object))
    }

    @inline(always)
    private func onlySpaceFollows(_ cursor: inout JSONCursor) -> Bool {
        cursor.skipSpace()
        return cursor.atEnd || cursor.failHere(.trailing)
    }

    /// The frame's own object, from its brace on.
    ///
    /// The usual case is walked on a pointer of its own, which the compiler keeps in a register; the cursor takes over where
    /// something unusual stands.
    @inline(always)
    private func members(_ cursor: inout JSONCursor, _ found: inout UInt32) -> Bool {
        let end = cursor.end
        var position = skippingSpace(from: cursor.position + 1, to: end)
        if position < end, position.pointee == 0x7D {
            cursor.position = position + 1
            return true
        }
        while true {
            guard position < end, position.pointee == 0x22 else {
                cursor.position = position
                return cursor.failHere(.key)
            }
            let keyStart = position + 1
            var isEscaped = false
            if let quote = plainEnd(from: keyStart, to: end) {
                position = quote + 1
            } else {
                cursor.position = keyStart
                guard cursor.string() else { return false }
                isEscaped = cursor.sawEscape
                position = cursor.position
            }
            let keyCount = position - keyStart - 1
            let key =
                isEscaped
                ? unusualKey(keyStart, keyCount)
                : MemberKey.usual(keyStart, count: keyCount, readable: end - keyStart)
            guard noteMember(key, keyStart, keyCount, isEscaped, cursor.start, found) else {
                return cursor.fail(.duplicateMember, .duplicate, at: keyStart - cursor.start - 1)
            }
            if position < end, position.pointee == 0x3A {
                position = skippingSpace(from: position + 1, to: end)
            } else {
                cursor.position = position
                guard cursor.colon() else { return false }
                position = cursor.position
            }
            let valueStart = position
            cursor.position = position
            guard position < end else { return cursor.fail(.invalid, .end) }
            let byte = position.pointee
            var kind = FieldSpan.Kind(firstByte: byte)
            if byte == 0x22, let quote = plainEnd(from: position + 1, to: end) {
                position = quote + 1
            } else {
                guard cursor.value(level: 1) else { return false }
                if byte == 0x22, cursor.sawEscape { kind = .escapedString }
                position = cursor.position
            }
            if let key {
                fields[Int(key.rawValue)] = FieldSpan(
                    start: UInt32(truncatingIfNeeded: valueStart - cursor.start),
                    end: UInt32(truncatingIfNeeded: position - cursor.start), kind: kind)
                found |= 1 << UInt32(key.rawValue)
            }
            position = skippingSpace(from: position, to: end)
            cursor.position = position
            guard position < end else { return cursor.fail(.invalid, .end) }
            if position.pointee == 0x7D {
                cursor.position = position + 1
                return true
            }
            guard position.pointee == 0x2C else { return cursor.failHere(.commaOrBrace) }
            position = skippingSpace(from: position + 1, to: end)
        }
    }

    /// Whether a member is the first of its name.
    @inline(always)
    private func noteMember(
        _ key: MemberKey?, _ start: UnsafePointer<UInt8>, _ count: Int, _ isEscaped: Bool,
        _ text: UnsafePointer<UInt8>, _ found: UInt32
    ) -> Bool {
        if let key { return found & (1 << UInt32(key.rawValue)) == 0 }
        return noteUnknown(
            UnsafeRawBufferPointer(start: start, count: count), escaped: isEscaped, at: start - text - 1)
    }

    @inline(never)
    private func forgetUnknown() {
        unknownStart = -1
        unknown.removeAll()
        manyUnknown.removeAll()
    }

    /// A key that is written with escapes.
    @inline(never)
    private func unusualKey(_ start: UnsafePointer<UInt8>, _ count: Int) -> MemberKey? {
        let plain = JSONString.unescaped(UnsafeRawBufferPointer(start: start, count: count))
        return plain.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return nil }
            return MemberKey.spelt(base, count: bytes.count, readable: bytes.count)
        }
    }

    /// Fills in `post` if the frame is a post with nothing but a name, and perhaps an id, an object and a userInfo, each of its
    /// right kind.
    @inline(always)
    private func isPlainPost(_ found: UInt32, _ text: UnsafePointer<UInt8>) -> Bool {
        // The bits of type, id, name, object and userInfo; type and name must be there.
        guard found & ~0b1_1111 == 0, found & 0b101 == 0b101, unknownStart < 0 else { return false }
        let type = fields[0]
        let name = fields[2]
        guard case .string = type.kind, type.count == 6, name.isString,
            leadingWord(text + Int(type.start) + 1, count: 4, readable: 4) == packed("post")
        else { return false }
        var plain = PlainPost(name: name)
        if found & 0b10 != 0 {
            let id = fields[1]
            switch id.kind {
            case .number:
                guard
                    let number = JSONNumber.unsigned(
                        UnsafeRawBufferPointer(start: text + Int(id.start), count: id.count)),
                    number <= Limits.greatestID
                else { return false }
                plain.id = number
            case .null: break
            case .object, .array, .string, .escapedString, .yes, .no: return false
            }
        }
        if found & 0b1000 != 0 {
            switch fields[3].kind {
            case .string, .escapedString: plain.object = fields[3]
            case .null: break
            case .object, .array, .number, .yes, .no: return false
            }
        }
        if found & 0b1_0000 != 0 {
            switch fields[4].kind {
            case .object: plain.userInfo = fields[4]
            case .null: break
            case .array, .string, .escapedString, .number, .yes, .no: return false
            }
        }
        post.pointee = plain
        return true
    }

    /// Answers false if the unknown key was there before.
    @inline(never)
    private func noteUnknown(_ raw: UnsafeRawBufferPointer, escaped: Bool, at offset: Int) -> Bool {
        let plain = escaped ? JSONString.unescaped(raw) : [UInt8](raw)
        if unknownStart < 0 {
            unknownStart = offset + 1
            unknownEnd = unknownStart + raw.count
        }
        if unknown.count < 32 {
            if unknown.contains(plain) { return false }
            unknown.append(plain)
            return true
        }
        if manyUnknown.isEmpty { manyUnknown.formUnion(unknown) }
        return manyUnknown.insert(plain).inserted
    }
}
