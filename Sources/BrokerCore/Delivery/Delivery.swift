import WireProtocol

/// The way out: what the frames of one turn put there, who is to be sent it, and what the kernel has not taken yet.
///
/// Between two flushes notifications are written to `notices` and answers to `answers`, once each, and the outlets note
/// ranges of them. A flush visits the touched outlets: `gather`, the write itself by the owner of the socket, `wrote`, and
/// at last `settle`, which moves what is left to the session's outbox. `endFlush` makes the segments empty.
final class Delivery {
    private let sessions: SessionTable
    private let keys: NotificationKeys
    let queueLimit: Int
    let notices = TurnSegment(capacity: 256 << 10)
    private let answers = TurnSegment(capacity: 64 << 10)
    /// The memory of the sender's frame that ranges were noted of, so that a large userInfo is not copied.
    private(set) var external: ByteStorage?
    private(set) var holdsExternal = false
    private var externalBytes = 0
    // SAFETY: there is room for every slot, and each stands in it once.
    private(set) var touched: UnsafeMutablePointer<Int32>
    private(set) var touchedCount = 0
    private var touchedCapacity = 64
    /// How many connections have bytes in their outbox: if none has, most checks can be skipped.
    private(set) var backlogged = 0
    let statistics = Statistics()

    private static let noticesFull = 128 << 10
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

    var hasTouched: Bool { touchedCount > 0 }

    @inline(__always)
    private func touch(_ outlet: UnsafeMutablePointer<Outlet>, _ slot: Int32) {
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
        if !holdsExternal {
            external = owner
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
    private func closePiece(_ slot: Int32, _ outlet: UnsafeMutablePointer<Outlet>) {
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
        var digits = 1
        var bound: UInt64 = 10
        while digits < 20, value >= bound {
            digits += 1
            let (next, overflow) = bound.multipliedReportingOverflow(by: 10)
            if overflow { break }
            bound = next
        }
        var rest = value
        var index = digits
        while index > 0 {
            index -= 1
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            position.storeBytes(
                of: UInt8(truncatingIfNeeded: digit) &+ 0x30, toByteOffset: index, as: UInt8.self)
            rest = quotient
        }
        position += digits
    }

    // The flush.

    /// Fills `pieces` with what a connection has to be sent next; answers how many. None are left when all is written.
    func gather(_ slot: Int32, _ pieces: UnsafeMutableBufferPointer<Piece>) -> Int {
        guard let session = sessions[slot], !sessions.outlets[Int(slot)].isClosed else { return 0 }
        let outlet = sessions.outlets + Int(slot)
        if let outbox = session.outbox {
            settle(slot)
            if outbox.awaitsReplay {
                outbox.pullReplay(upTo: min(64 << 10, queueLimit / 4))
                update(session)
            }
            guard let outbox = session.outbox else { return 0 }
            let count = outbox.gather(pieces)
            // Gaps may have come to it.
            outlet.pointee.queued = outbox.bytes
            return count
        }
        if outlet.pointee.noted == 0 { return 0 }
        if session.pieces.isEmpty, let start = outlet.pointee.openStart, let end = outlet.pointee.openEnd {
            pieces[0] = Piece(start: start, count: end - start)
            return 1
        }
        closePiece(slot, outlet)
        let count = min(session.pieces.count, pieces.count)
        for index in 0..<count { pieces[index] = session.pieces[index] }
        return count
    }

    /// The kernel took `count` bytes of what was gathered.
    func wrote(_ slot: Int32, _ count: Int) {
        guard let session = sessions[slot] else { return }
        let outlet = sessions.outlets + Int(slot)
        statistics.bytesOut &+= UInt64(count)
        if let outbox = session.outbox {
            countDelivered(session, outbox.remove(count, &session.ledger))
            update(session)
        } else if count == outlet.pointee.noted, session.ledger.isAtBoundary {
            countDelivered(session, outlet.pointee.notedNotifications)
            clearNoted(session, outlet)
        } else {
            closePiece(slot, outlet)
            removeWritten(session, outlet, count)
        }
    }

    private func removeWritten(_ session: Session, _ outlet: UnsafeMutablePointer<Outlet>, _ count: Int) {
        var left = count
        var whole = 0
        while left > 0, whole < session.pieces.count {
            let step = min(left, session.pieces[whole].count)
            let ended = session.ledger.advance(session.pieces[whole].start, by: step)
            countDelivered(session, ended)
            outlet.pointee.notedNotifications -= ended
            left -= step
            session.pieces[whole].start += step
            session.pieces[whole].count -= step
            if session.pieces[whole].count == 0 { whole += 1 }
        }
        session.pieces.removeFirst(whole)
        outlet.pointee.noted -= count
    }

    private func countDelivered(_ session: Session, _ count: Int) {
        session.delivered &+= UInt64(count)
        statistics.delivered &+= UInt64(count)
    }

    private func clearNoted(_ session: Session, _ outlet: UnsafeMutablePointer<Outlet>) {
        outlet.pointee.openStart = nil
        outlet.pointee.openEnd = nil
        outlet.pointee.noted = 0
        outlet.pointee.notedNotifications = 0
        if !session.pieces.isEmpty { session.pieces.removeAll() }
    }

    /// Moves what is noted to the outbox.
    func settle(_ slot: Int32) {
        let outlet = sessions.outlets + Int(slot)
        guard outlet.pointee.noted > 0, let session = sessions[slot] else { return }
        if outlet.pointee.isClosed { return clearNoted(session, outlet) }
        closePiece(slot, outlet)
        var held = (notices: 0, answers: 0, external: 0)
        for piece in session.pieces {
            if Self.lies(piece, in: notices.storage) {
                held.notices += piece.count
            } else if Self.lies(piece, in: answers.storage) {
                held.answers += piece.count
            } else {
                held.external += piece.count
            }
        }
        var notifications = outlet.pointee.notedNotifications
        let pieces = session.pieces
        clearNoted(session, outlet)
        for piece in pieces {
            let owner: ByteStorage
            let share: Int
            if Self.lies(piece, in: notices.storage) {
                (owner, share) = (notices.storage, held.notices)
            } else if Self.lies(piece, in: answers.storage) {
                (owner, share) = (answers.storage, held.answers)
            } else if let external {
                (owner, share) = (external, held.external)
            } else {
                continue
            }
            // What holds half of a storage keeps it; less is copied, so that little never holds much.
            queue(
                piece, notifications: notifications, in: owner, byReference: share * 2 >= owner.capacity,
                for: session)
            notifications = 0
        }
    }

    private static func lies(_ piece: Piece, in storage: ByteStorage) -> Bool {
        piece.start >= UnsafeRawPointer(storage.base)
            && piece.start < UnsafeRawPointer(storage.base) + storage.capacity
    }

    private func queue(
        _ piece: Piece, notifications: Int, in owner: ByteStorage, byReference: Bool, for session: Session
    ) {
        outbox(of: session).append(piece, notifications: notifications, in: owner, byReference: byReference)
        update(session)
    }

    private func outbox(of session: Session) -> Outbox {
        if let outbox = session.outbox { return outbox }
        let outbox = Outbox(coalescing: sessions.outlets[Int(session.slot)].overflow == .coalesce, keys: keys)
        outbox.expectRest(of: session.ledger)
        session.outbox = outbox
        backlogged += 1
        return outbox
    }

    /// Takes over the outbox's size after a change, and lets go of an empty one.
    private func update(_ session: Session) {
        guard let outbox = session.outbox else { return }
        let outlet = sessions.outlets + Int(session.slot)
        outlet.pointee.queued = outbox.bytes
        if outbox.isEmpty {
            session.outbox = nil
            backlogged -= 1
        }
    }

    /// Ends a flush. Everything noted was written or settled.
    func endFlush() {
        for index in 0..<touchedCount { sessions.outlets[Int(touched[index])].isTouched = false }
        touchedCount = 0
        notices.reset()
        answers.reset()
        if holdsExternal {
            external = nil
            holdsExternal = false
            externalBytes = 0
        }
    }

    // What the broker decides about a queue.

    func append(_ replay: Replay, to session: Session) {
        settle(session.slot)
        outbox(of: session).append(
            replay, coalescing: sessions.outlets[Int(session.slot)].overflow == .coalesce)
        touch(sessions.outlets + Int(session.slot), session.slot)
    }

    func setOverflow(_ overflow: Overflow, of session: Session) {
        let outlet = sessions.outlets + Int(session.slot)
        let wasCoalescing = outlet.pointee.overflow == .coalesce
        outlet.pointee.overflow = overflow
        guard wasCoalescing != (overflow == .coalesce), let outbox = session.outbox else { return }
        settle(session.slot)
        outbox.setCoalescing(overflow == .coalesce, session.ledger)
        update(session)
    }

    /// Makes room for `size` bytes by the policy `coalesce`.
    func coalesce(_ session: Session, makingRoomFor size: Int) {
        settle(session.slot)
        guard let outbox = session.outbox else { return }
        countDropped(session, outbox.shrink(to: max(0, queueLimit - size)))
        update(session)
    }

    func countDropped(_ session: Session, _ count: Int) {
        session.dropped &+= UInt64(count)
        statistics.dropped &+= UInt64(count)
    }

    func dropReplays(_ session: Session) {
        session.outbox?.dropReplays()
        update(session)
    }

    /// Forgets all that a connection was to be sent, but for the rest of the frame under way.
    func discard(_ session: Session) {
        settle(session.slot)
        guard let outbox = session.outbox else { return }
        countDropped(session, outbox.discard(keeping: session.ledger))
        update(session)
    }

    /// Nothing more can be written to a connection.
    func close(_ session: Session) {
        settle(session.slot)
        let outlet = sessions.outlets + Int(session.slot)
        if let outbox = session.outbox {
            countDropped(session, outbox.notifications)
            session.outbox = nil
            backlogged -= 1
        }
        outlet.pointee.queued = 0
        outlet.pointee.isClosed = true
    }

    var queuedBytes: Int {
        (0..<sessions.slotCount).reduce(0) { sum, slot in
            sessions.sessions[slot] == nil ? sum : sum + sessions.outlets[slot].pending
        }
    }
}
