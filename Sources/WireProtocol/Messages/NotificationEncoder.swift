/// Writes `notification` frames to memory that the caller has made room in.
///
/// Everything up to the name is kept ready as a head: `seq` is counted up in its digits, `time` is put in once a turn, and the
/// sender when another one posts. So a notification costs a copy of the head, the name and the userInfo.
package final class NotificationEncoder {
    package static let opening: StaticString = "{\"type\":\"notification\",\"seq\":"
    package static let timeLabel: StaticString = ",\"time\":"
    package static let nameLabel: StaticString = ",\"name\":"
    package static let objectLabel: StaticString = ",\"object\":"
    package static let immediately: StaticString = ",\"deliverImmediately\":true"
    package static let retained: StaticString = ",\"retained\":true,\"observer\":"
    private static let userInfoLabel: StaticString = ",\"userInfo\":"

    /// Where the digits of `seq` begin in a frame, its length included.
    package static let seqOffset = 4 + opening.utf8CodeUnitCount

    /// The most that a frame is longer than its name, object and userInfo.
    @inlinable @inline(always) package static var overhead: Int { 384 }

    // SAFETY: `head` has room for `headCapacity` bytes, more than all fixed parts and numbers together.
    private let head: UnsafeMutableRawPointer
    private static let headCapacity = 256
    private var headCount = 0
    private var seqDigits = 1
    private var time: UInt64 = 0
    private var timeOffset = 0
    private var timeDigits = 0
    /// Which sender the head is ready for.
    private var sender: UInt64 = 0

    private var number: UInt64 = 0

    /// The last number given.
    package var seq: UInt64 { number }

    package init() {
        head = .allocate(byteCount: Self.headCapacity, alignment: 16)
        head.initializeMemory(as: UInt8.self, repeating: 0, count: Self.headCapacity)
    }

    deinit {
        head.deallocate()
    }

    /// Who posts, as the kernel reports it.
    package struct Sender: Hashable, Sendable {
        package var connection: UInt64
        package var pid: Int32
        package var uid: UInt32
        package var gid: UInt32

        package init(connection: UInt64, pid: Int32, uid: UInt32, gid: UInt32) {
            self.connection = connection
            self.pid = pid
            self.uid = uid
            self.gid = gid
        }
    }

    /// The parts of a notification that come from its post: JSON, where it lies in the post's text.
    package struct Parts {
        package var text: UnsafeRawPointer
        package var name: FieldSpan
        /// `none` if there is none; so with userInfo.
        package var object: FieldSpan
        package var userInfo: FieldSpan
        package var deliverImmediately: Bool

        @inlinable @inline(always) package init(
            text: UnsafeRawPointer, name: FieldSpan, object: FieldSpan, userInfo: FieldSpan,
            deliverImmediately: Bool
        ) {
            self.text = text
            self.name = name
            self.object = object
            self.userInfo = userInfo
            self.deliverImmediately = deliverImmediately
        }

        @inlinable @inline(always) package func bytes(_ span: FieldSpan) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(start: text + Int(span.start), count: span.count)
        }
    }

    /// Gives the next number, and makes the head ready for it.
    package func advance(time now: UInt64, sender next: Sender) -> UInt64 {
        number &+= 1
        if next.connection == sender, countUp(), now == time || setTime(now) { return number }
        time = now
        sender = next.connection
        prepareHead(seq: number, time: now, sender: next)
        return number
    }

    /// Counts the digits up; false if there is one more than before.
    @inline(always)
    private func countUp() -> Bool {
        var index = Self.seqOffset + seqDigits - 1
        while index >= Self.seqOffset {
            let digit = head.load(fromByteOffset: index, as: UInt8.self)
            if digit < UInt8(ascii: "9") {
                head.storeBytes(of: digit &+ 1, toByteOffset: index, as: UInt8.self)
                return true
            }
            head.storeBytes(of: UInt8(ascii: "0"), toByteOffset: index, as: UInt8.self)
            index -= 1
        }
        return false
    }

    /// Replaces the time; false if it has not as many digits as the last one.
    private func setTime(_ now: UInt64) -> Bool {
        let rest = JSONNumber.write(now, digits: timeDigits, to: head + timeOffset)
        time = now
        let leading = head.load(fromByteOffset: timeOffset, as: UInt8.self)
        return rest == 0 && leading != UInt8(ascii: "0")
    }

    @inline(never)
    private func prepareHead(seq: UInt64, time: UInt64, sender: Sender) {
        var text: [UInt8] = [0, 0, 0, 0]
        text.reserveCapacity(Self.headCapacity)
        text.append(literal: Self.opening)
        JSONNumber.append(seq, to: &text)
        seqDigits = text.count - Self.seqOffset
        text.append(literal: Self.timeLabel)
        timeOffset = text.count
        JSONNumber.append(time, to: &text)
        timeDigits = text.count - timeOffset
        text.append(literal: ",\"sender\":{\"connection\":")
        JSONNumber.append(sender.connection, to: &text)
        text.append(literal: ",\"pid\":")
        JSONNumber.append(UInt64(max(sender.pid, 0)), to: &text)
        text.append(literal: ",\"uid\":")
        JSONNumber.append(UInt64(sender.uid), to: &text)
        text.append(literal: ",\"gid\":")
        JSONNumber.append(UInt64(sender.gid), to: &text)
        text.append(UInt8(ascii: "}"))
        text.append(literal: Self.nameLabel)
        headCount = text.count
        UnsafeMutableRawBufferPointer(start: head, count: Self.headCapacity).copyBytes(from: text)
    }

    /// Writes the frame up to the userInfo's bytes to `start`; answers how many bytes that are. The whole frame has the
    /// userInfo's and a closing brace more.
    package func encodeFront(_ parts: Parts, to start: UnsafeMutableRawPointer) -> Int {
        var position = start
        Self.put(UnsafeRawBufferPointer(start: head, count: headCount), &position)
        Self.put(parts.bytes(parts.name), &position)
        if parts.object.count > 0 {
            Self.put(Self.objectLabel, &position)
            Self.put(parts.bytes(parts.object), &position)
        }
        if parts.deliverImmediately { Self.put(Self.immediately, &position) }
        if parts.userInfo.count > 0 { Self.put(Self.userInfoLabel, &position) }
        let count = position - start
        let length = count &- 4 &+ parts.userInfo.count &+ 1
        start.storeBytes(of: UInt32(truncatingIfNeeded: length).bigEndian, as: UInt32.self)
        return count
    }

    @inline(always)
    private static func put(_ bytes: UnsafeRawBufferPointer, _ position: inout UnsafeMutableRawPointer) {
        guard let base = bytes.baseAddress else { return }
        position.copyMemory(from: base, byteCount: bytes.count)
        position += bytes.count
    }

    @inline(always)
    private static func put(_ text: StaticString, _ position: inout UnsafeMutableRawPointer) {
        position.copyMemory(from: text.utf8Start, byteCount: text.utf8CodeUnitCount)
        position += text.utf8CodeUnitCount
    }

    /// The front of a retained notification's frame, up to its userInfo; `whole` is the frame's length.
    package static func retainedFront(
        seq: UInt64, time: UInt64, sender: Sender, name: [UInt8], object: [UInt8]?, deliverImmediately: Bool,
        observer: [UInt8], userInfoBytes: Int?
    ) -> [UInt8] {
        let encoder = NotificationEncoder()
        encoder.prepareHead(seq: seq, time: time, sender: sender)
        var front = [UInt8](UnsafeRawBufferPointer(start: encoder.head, count: encoder.headCount))
        front.append(contentsOf: name)
        if let object {
            front.append(literal: objectLabel)
            front.append(contentsOf: object)
        }
        if deliverImmediately { front.append(literal: immediately) }
        front.append(literal: retained)
        JSONString.append(observer, quotedTo: &front)
        if userInfoBytes != nil { front.append(literal: userInfoLabel) }
        front.setFrameLength(front.count - 4 + (userInfoBytes ?? 0) + 1)
        return front
    }
}
