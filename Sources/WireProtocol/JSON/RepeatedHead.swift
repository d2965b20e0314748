/// What the last usual post began with, up to its userInfo: the next one mostly begins likewise.
///
/// Its id and its name are holes: a post that differs in nothing else is as good as scanned up to its userInfo.
final class RepeatedHead {
    enum Likeness {
        case none
        /// The name and the object are those of the last post.
        case same
        case otherName
    }

    // SAFETY: room for `room` bytes, of which `count` are filled.
    private let head: UnsafeMutableRawPointer
    private static let room = 256
    private var count = 0
    // Where in the head things lie.
    private var name = 0..<0
    private var id: Range<Int>?
    private var object = 0..<0
    /// The parts of the post, which are those of the head's while there is one.
    private let post: UnsafeMutablePointer<PlainPost>

    init(of post: UnsafeMutablePointer<PlainPost>) {
        head = .allocate(byteCount: Self.room, alignment: 16)
        self.post = post
    }

    deinit {
        head.deallocate()
    }

    func forget() {
        count = 0
    }

    /// Keeps the head of a usual post that has its userInfo at the end, and an unescaped name.
    func remember(_ text: UnsafeRawBufferPointer, id: Range<Int>?) {
        let parts = post.pointee
        let end = Int(parts.userInfo.start)
        guard parts.userInfo.count > 0, Int(parts.userInfo.end) + 1 == text.count,
            id.map({ $0.upperBound <= end }) ?? true, case .string = parts.name.kind,
            let base = text.baseAddress
        else { return forget() }
        self.id = id
        name = parts.name.range
        object = parts.object.range
        keep(base, end)
    }

    @inline(always)
    private func keep(_ text: UnsafeRawPointer, _ end: Int) {
        guard end <= Self.room else { return forget() }
        count = end
        head.copyMemory(from: text, byteCount: end)
    }

    /// Whether a text begins with the very bytes that the last post did, of which the id is none.
    @inline(always)
    func isRepeated(in text: UnsafeRawBufferPointer) -> Bool {
        guard count > 0, id == nil, text.count > count, let base = text.baseAddress else {
            return false
        }
        return equalBytes(base, head, count)
    }

    /// Whether a text begins as the last post did, but for its id and its name. If so, `post` has its parts, of which only the
    /// userInfo's end is still to be found.
    func match(_ text: UnsafeRawBufferPointer) -> Likeness {
        guard count > 0, let base = text.baseAddress else { return .none }
        if differsInName(base, text.count) { return .otherName }
        let end = base + text.count
        var here = base
        var matched = 0
        var likeness = Likeness.same
        var idEnd = 0
        if let id, id.lowerBound < name.lowerBound {
            guard skip(id, &matched, &here, end) else { return .none }
            idEnd = here - base
        }
        guard skip(to: name.lowerBound, &matched, &here, end) else { return .none }
        let nameStart = here - base
        if end - here > name.count, equalBytes(here, head + matched, name.count) {
            here += name.count
        } else {
            let bytes = here.assumingMemoryBound(to: UInt8.self)
            guard here < end, bytes.pointee == UInt8(ascii: "\""),
                let quote = plainEnd(from: bytes + 1, to: end.assumingMemoryBound(to: UInt8.self))
            else { return .none }
            here = UnsafeRawPointer(quote + 1)
            likeness = .otherName
        }
        matched = name.upperBound
        let nameEnd = here - base
        if let id, id.lowerBound > name.lowerBound {
            guard skip(id, &matched, &here, end) else { return .none }
            idEnd = here - base
        }
        guard skip(to: count, &matched, &here, end), here < end else { return .none }
        move(name: nameStart..<nameEnd, idEnd: idEnd)
        post.pointee.userInfo.start = UInt32(truncatingIfNeeded: here - base)
        keep(base, here - base)
        return likeness
    }

    /// Whether a text differs in the name only, that is as long as the last one: then all lies where it lay, and the new name is
    /// kept.
    @inline(always)
    private func differsInName(_ text: UnsafeRawPointer, _ textCount: Int) -> Bool {
        // The quotes are no part of the hole.
        let (start, end) = (name.lowerBound &+ 1, name.upperBound &- 1)
        guard id == nil, textCount > count, equalBytes(text, head, start),
            equalBytes(text + end, head + end, count &- end),
            !anyMarked(UnsafeRawBufferPointer(start: text + start, count: end &- start), specialBytes)
        else { return false }
        (head + start).copyMemory(from: text + start, byteCount: end &- start)
        return true
    }

    /// Goes over what is between holes.
    @inline(always)
    private func skip(
        to end: Int, _ matched: inout Int, _ here: inout UnsafeRawPointer, _ textEnd: UnsafeRawPointer
    ) -> Bool {
        let length = end &- matched
        guard textEnd - here >= length, equalBytes(here, head + matched, length) else { return false }
        here += length
        matched = end
        return true
    }

    /// Goes over an id, and what is before it.
    @inline(always)
    private func skip(
        _ id: Range<Int>, _ matched: inout Int, _ here: inout UnsafeRawPointer, _ textEnd: UnsafeRawPointer
    ) -> Bool {
        guard skip(to: id.lowerBound, &matched, &here, textEnd), let next = readID(here, textEnd) else {
            return false
        }
        here = next
        matched = id.upperBound
        return true
    }

    /// An id, up to its end.
    @inline(always)
    private func readID(_ start: UnsafeRawPointer, _ end: UnsafeRawPointer) -> UnsafeRawPointer? {
        var here = start
        var value: UInt64 = 0
        while here < end, here - start < 18 {
            let digit = here.load(as: UInt8.self) &- 0x30
            if digit > 9 { break }
            value = value &* 10 &+ UInt64(digit)
            here += 1
        }
        // Zeros in front are no number; and more digits than these are for the whole scan.
        guard here > start, value <= Limits.greatestID,
            here - start == 1 || start.load(as: UInt8.self) != UInt8(ascii: "0")
        else { return nil }
        post.pointee.id = value
        return here
    }

    /// Takes over where the name and the id lie now, and what was moved by that.
    @inline(always)
    private func move(name newName: Range<Int>, idEnd: Int) {
        let longerName = newName.count - name.count
        if object.count > 0 {
            var shift = object.lowerBound > name.lowerBound ? longerName : 0
            if let id, object.lowerBound > id.lowerBound {
                shift += idEnd - id.upperBound - (id.lowerBound > name.lowerBound ? longerName : 0)
            }
            object = object.lowerBound + shift..<object.upperBound + shift
        }
        if let id {
            let shift = id.lowerBound > name.lowerBound ? longerName : 0
            self.id = id.lowerBound + shift..<idEnd
        }
        name = newName
        post.pointee.name.start = UInt32(truncatingIfNeeded: name.lowerBound)
        post.pointee.name.end = UInt32(truncatingIfNeeded: name.upperBound)
        post.pointee.object.start = UInt32(truncatingIfNeeded: object.lowerBound)
        post.pointee.object.end = UInt32(truncatingIfNeeded: object.upperBound)
    }
}
