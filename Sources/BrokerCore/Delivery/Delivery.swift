import WireProtocol

/// The way out: what the frames of one turn put there, who is to be sent it, and what the kernel has not taken yet.
///
/// Between two flushes notifications are written to `notices` and answers to `answers`, once each, and the outlets note
/// ranges of them. A flush visits the touched outlets: `gather`, the write itself by the owner of the socket, `wrote`, and
/// at last `settle`, which moves what is left to the session's outbox. `endFlush` makes the segments empty.
final class Delivery {
    let sessions: SessionTable
    let keys: NotificationKeys
    let queueLimit: Int
    let notices = TurnSegment(capacity: noticesFull + (32 << 10))
    let answers = TurnSegment(capacity: 64 << 10)
    /// The memory of senders' frames that ranges were noted of, so that a large userInfo is not copied.
    var externals: [ByteStorage] = []
    var holdsExternal = false
    var externalBytes = 0
    /// The bytes that connections were left with in this flush: of `notices`, of `answers`, and of each of `externals`.
    var left = [0, 0]
    // SAFETY: there is room for every slot, and each stands in it once.
    private(set) var touched: UnsafeMutablePointer<Int32>
    var touchedCount = 0
    private var touchedCapacity = 64
    /// How many connections have bytes in their outbox: if none has, most checks can be skipped.
    var backlogged = 0
    let statistics = Statistics()

    private static let noticesFull = 256 << 10
    private static let answersFull = 48 << 10
    /// A frame of more than this goes to the outbox at once.
    private static let largeAnswer = 8 << 10
    /// More than the longest receipt has.
    private static let receiptBytes = 128
    /// A userInfo of at least this many bytes is sent from where it was read.
    static let externalUserInfo = 16 << 10

    init(sessions: SessionTable, keys: NotificationKeys, queueLimit: Int) {
        self.sessions = sessions
        self.keys = keys
        self.queueLimit = queueLimit
        touched = .allocate(capacity: touchedCapacity)
    }

    deinit {
        touched.deallocate()
    }

    /// Makes room for connections with slots below `count`.
    func reserve(slots count: Int) {
        guard count > touchedCapacity else { return }
        let grown = max(count, touchedCapacity * 2)
        let more = UnsafeMutablePointer<Int32>.allocate(capacity: grown)
        more.update(from: touched, count: touchedCount)
        touched.deallocate()
        touched = more
        touchedCapacity = grown
    }

    /// Whether there is no safe room for one more frame and its answers.
    @inline(__always) var isFull: Bool { notices.used > Self.noticesFull || answers.used > Self.answersFull }

    /// More than any connection can have noted since the last flush.
    @inline(__always) var mostNoted: Int { notices.used &+ answers.used &+ externalBytes }

    @inline(__always)
    func touch(_ outlet: UnsafeMutablePointer<Outlet>, _ slot: Int32) {
        if outlet.pointee.isTouched { return }
        outlet.pointee.isTouched = true
        touched[touchedCount] = slot
        touchedCount &+= 1
    }

    /// Notes bytes for a connection.
    @inline(__always)
    func note(_ slot: Int32, _ start: UnsafeRawPointer, _ count: Int) {
        let outlet = sessions.outlets + Int(slot)
        if outlet.pointee.openEnd == start {
            outlet.pointee.openEnd = start + count
        } else {
            if outlet.pointee.openEnd != nil { closePiece(slot, outlet) }
            outlet.pointee.openStart = start
            outlet.pointee.openEnd = start + count
        }
        outlet.pointee.noted &+= count
        touch(outlet, slot)
    }

    @inline(__always)
    func noteNotification(_ slot: Int32, _ start: UnsafeRawPointer, _ count: Int) {
        note(slot, start, count)
        sessions.outlets[Int(slot)].notedNotifications &+= 1
    }

    /// Notes a notification whose userInfo lies elsewhere: in `owner`, until the next flush.
    func noteExternal(
        _ slots: UnsafePointer<Int32>, count: Int, front: UnsafeRawPointer, frontCount: Int,
        userInfo: UnsafeRawBufferPointer, in owner: ByteStorage
    ) {
        guard let userInfoStart = userInfo.baseAddress else { return }
        if externals.last !== owner {
            externals.append(owner)
            left.append(0)
            holdsExternal = true
        }
        externalBytes += userInfo.count
        for index in 0..<count {
            let slot = slots[index]
            note(slot, front, frontCount)
            note(slot, userInfoStart, userInfo.count)
            noteNotification(slot, front + frontCount, 1)
        }
    }

    @inline(never)
    func closePiece(_ slot: Int32, _ outlet: UnsafeMutablePointer<Outlet>) {
        guard let start = outlet.pointee.openStart, let end = outlet.pointee.openEnd,
            let session = sessions[slot]
        else { return }
        session.pieces.append(Piece(start: start, count: end - start))
        outlet.pointee.openStart = nil
        outlet.pointee.openEnd = nil
    }

    /// Sends a frame that is not a post's to one connection.
    func send(_ frame: [UInt8], to slot: Int32) {
        // One post may have a gap told to many, and there must be room for its receipt then.
        if frame.count > min(Self.largeAnswer, answers.room - Self.receiptBytes) {
            guard let session = sessions[slot], !sessions.outlets[Int(slot)].isClosed else { return }
            settle(slot)
            let storage = ByteStorage(capacity: frame.count)
            UnsafeMutableRawBufferPointer(start: storage.base, count: frame.count).copyBytes(from: frame)
            queue(
                Piece(start: UnsafeRawPointer(storage.base), count: frame.count), notifications: 0,
                in: storage,
                byReference: true, for: session)
            touch(sessions.outlets + Int(slot), slot)
            return
        }
        let start = answers.end
        UnsafeMutableRawBufferPointer(start: start, count: frame.count).copyBytes(from: frame)
        answers.advance(frame.count)
        note(slot, UnsafeRawPointer(start), frame.count)
    }

    /// Answers a post: the one frame, besides notifications, that comes as often as posts.
    func sendReceipt(id: UInt64, seq: UInt64, receivers: Int, to slot: Int32) {
        let start = answers.end
        var position = start + 4
        Self.put("{\"type\":\"ok\",\"id\":", &position)
        Self.put(id, &position)
        Self.put(",\"seq\":", &position)
        Self.put(seq, &position)
        Self.put(",\"receivers\":", &position)
        Self.put(UInt64(receivers), &position)
        Self.put("}", &position)
        let count = position - start
        start.storeBytes(of: UInt32(count - 4).bigEndian, as: UInt32.self)
        answers.advance(count)
        note(slot, UnsafeRawPointer(start), count)
    }

    // SAFETY: `send` leaves `receiptBytes` of room in `answers`, and a frame has one receipt, after which `isFull` is asked.
    @inline(__always)
    private static func put(_ text: StaticString, _ position: inout UnsafeMutableRawPointer) {
        position.copyMemory(from: text.utf8Start, byteCount: text.utf8CodeUnitCount)
        position += text.utf8CodeUnitCount
    }

    @inline(__always)
    private static func put(_ value: UInt64, _ position: inout UnsafeMutableRawPointer) {
        let digits = JSONNumber.digitCount(of: value)
        _ = JSONNumber.write(value, digits: digits, to: position)
        position += digits
    }
}
