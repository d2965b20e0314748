import CommandLineSupport
import WireProtocol

/// What one receiver got and what it is to get next: each number of its share from each sender once, in order, with a `seq`
/// that grows and a `time` that does not fall.
struct DeliveryCheck {
    private let receiver: Int
    private let share: Share
    private let plan: Plan
    private var expected: [Int]
    private var lastSeq: UInt64 = 0
    private var lastTime = 0
    private var recent = RecentDigits()
    /// Numbers that were passed over; should they come yet, they are out of order and not missing. Bounded.
    private var skipped: Set<Int> = []
    private(set) var delivered = 0
    /// Depends on every delivery and on their order.
    private(set) var order: UInt64 = 0
    private(set) var faults = Faults()

    private static let mostSkipped = 100_000

    init(_ plan: Plan, receiver: Int, first: Int = 0) {
        self.receiver = receiver
        self.plan = plan
        share = plan.share(of: receiver)
        expected = [Int](repeating: max(share.first, first), count: plan.figures.senders)
    }

    /// Notes a notification that says no more than a template allows; false if it needs a closer look.
    @inline(__always)
    mutating func take(_ text: UnsafeRawBufferPointer, _ templates: [FrameTemplate?]) -> Bool {
        guard let layout = FrameLayout(text, size: plan.figures.size, &recent),
            layout.stamp.sender < templates.count,
            let template = templates[layout.stamp.sender], template.matches(layout.rest, layout.stamp, plan)
        else { return false }
        count(layout.stamp, seq: layout.seq, time: layout.time)
        return true
    }

    /// Looks at each member of a notification; answers its template.
    mutating func examine(
        _ notification: ReceivedNotification, _ text: UnsafeRawBufferPointer
    ) -> (sender: Int, FrameTemplate)? {
        guard let stamp = stamp(of: notification) else {
            faults.damaged += 1
            faults.note("receiver \(receiver) got what was not posted, seq \(notification.seq)")
            return nil
        }
        count(stamp, seq: notification.seq, time: Int(truncatingIfNeeded: notification.time))
        guard let layout = FrameLayout(text, size: plan.figures.size, &recent) else { return nil }
        let offset = layout.rest.count - 1 - plan.figures.size + UserInfo.stampOffset
        let template = FrameTemplate(
            rest: layout.rest, stampOffset: offset, name: notification.name, plan: plan)
        return template.map { (stamp.sender, $0) }
    }

    private func stamp(of notification: ReceivedNotification) -> Stamp? {
        guard let userInfo = notification.userInfo, userInfo.count == plan.figures.size else { return nil }
        let start = userInfo.startIndex + UserInfo.stampOffset
        let stamp = userInfo.withUnsafeBytes {
            Stamp(at: $0.baseAddress.unsafelyUnwrapped + UserInfo.stampOffset)
        }
        guard let stamp, stamp.sender < expected.count, stamp.number < plan.countPerSender,
            notification.name == plan.name(sender: stamp.sender, number: stamp.number)
        else { return nil }
        var posted = UserInfo.bytes(size: plan.figures.size)
        posted.replaceSubrange(
            UserInfo.stampOffset..<(UserInfo.stampOffset + Stamp.width),
            with: userInfo[start..<(start + Stamp.width)])
        return userInfo.elementsEqual(posted) ? stamp : nil
    }

    @inline(__always)
    private mutating func count(_ stamp: Stamp, seq: UInt64, time: Int) {
        if expected[stamp.sender] == stamp.number, seq > lastSeq, time >= lastTime {
            expected[stamp.sender] = share.next(after: stamp.number)
        } else {
            wonder(stamp, seq, time)
        }
        lastSeq = seq
        lastTime = time
        delivered &+= 1
        let mixed =
            seq &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(truncatingIfNeeded: stamp.number &* 10_000 &+ stamp.sender)
        order = (order << 7 | order >> 57) ^ mixed
    }

    private mutating func wonder(_ stamp: Stamp, _ seq: UInt64, _ time: Int) {
        let (sender, number) = (stamp.sender, stamp.number)
        let due = expected[sender]
        let key = number * 10_000 + sender
        if number > due {
            let count = share.count(from: due, below: number)
            faults.missing += count
            faults.note("receiver \(receiver) missed \(count) from number \(due) of sender \(sender)")
            var next = due
            while next < number, skipped.count < Self.mostSkipped {
                skipped.insert(next * 10_000 + sender)
                next = share.next(after: next)
            }
            expected[sender] = share.next(after: number)
        } else if number < due {
            if skipped.remove(key) != nil {
                faults.missing -= 1
                faults.disordered += 1
                faults.note("receiver \(receiver) got number \(number) of sender \(sender) after \(due)")
            } else {
                faults.doubled += 1
                faults.note("receiver \(receiver) got number \(number) of sender \(sender) again")
            }
        } else {
            expected[sender] = share.next(after: number)
            faults.disordered += 1
            faults.note("receiver \(receiver) got seq \(seq) at \(time) after seq \(lastSeq) at \(lastTime)")
        }
    }

    /// Nothing more comes: what has not come is missing.
    mutating func finish() {
        for sender in expected.indices {
            let count = share.count(from: expected[sender], below: plan.countPerSender)
            guard count > 0 else { continue }
            faults.missing += count
            faults.note("receiver \(receiver) missed the last \(count) of sender \(sender)")
        }
    }
}

/// The digits that were read last and are mostly the same again: the time, and the first half of the stamp.
private struct RecentDigits {
    private var timeText: (UInt64, UInt64) = (0, 0)
    private var time = 0
    private var stampText: UInt64 = 0
    /// The stamp with zeros in its second half.
    private var stamp = Stamp(sender: 0, number: 0)

    @inline(__always)
    mutating func time(at bytes: UnsafeRawPointer) -> Int? {
        let text = (
            bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        )
        if text == timeText { return time }
        guard let high = Digits.number(loaded: text.0.littleEndian),
            let low = Digits.number(loaded: text.1.littleEndian)
        else { return nil }
        timeText = text
        time = high * Digits.bound + low
        return time
    }

    @inline(__always)
    mutating func stamp(at bytes: UnsafeRawPointer) -> Stamp? {
        let high = bytes.loadUnaligned(as: UInt64.self)
        if high != stampText {
            guard let whole = Stamp(at: bytes) else { return nil }
            stampText = high
            stamp = Stamp(sender: whole.sender, number: whole.number / Digits.bound * Digits.bound)
            return whole
        }
        let low = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self).littleEndian
        guard let number = Digits.number(loaded: low) else { return nil }
        return Stamp(sender: stamp.sender, number: stamp.number &+ number)
    }
}

/// Where things lie in a notification that the broker wrote in its usual order, with userInfo of a known size at the end.
private struct FrameLayout {
    let seq: UInt64
    let time: Int
    /// What follows on the time.
    let rest: UnsafeRawBufferPointer
    let stamp: Stamp

    private static let openingCount = NotificationEncoder.opening.utf8CodeUnitCount
    private static let timeDigits = 16

    @inline(__always)
    init?(_ text: UnsafeRawBufferPointer, size: Int, _ recent: inout RecentDigits) {
        let opening = NotificationEncoder.opening.utf8Start
        guard let start = text.baseAddress, text.count >= Self.openingCount + size + 64 else { return nil }
        // SAFETY: the opening has 29 bytes; seq has at most 20 digits, and the 64 bytes beyond have room for these, the label
        // of time and its digits; the stamp lies in the last `size` bytes, which are at least `Plan.leastSize`.
        for offset in [0, 8, 16, Self.openingCount - 8] {
            let expected = UnsafeRawPointer(opening).loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if start.loadUnaligned(fromByteOffset: offset, as: UInt64.self) != expected { return nil }
        }
        var position = Self.openingCount
        var seq: UInt64 = 0
        while position < Self.openingCount + 20 {
            let digit = start.load(fromByteOffset: position, as: UInt8.self) &- 0x30
            if digit > 9 { break }
            seq = seq &* 10 &+ UInt64(digit)
            position += 1
        }
        let label = UnsafeRawPointer(NotificationEncoder.timeLabel.utf8Start).loadUnaligned(as: UInt64.self)
        guard start.loadUnaligned(fromByteOffset: position, as: UInt64.self) == label,
            let time = recent.time(at: start + position + 8),
            let stamp = recent.stamp(at: start + text.count - 1 - size + UserInfo.stampOffset)
        else { return nil }
        position += 8 + Self.timeDigits
        self.seq = seq
        self.stamp = stamp
        self.time = time
        rest = UnsafeRawBufferPointer(start: start + position, count: text.count - position)
    }
}
