import WireProtocol

/// The queue of a connection whose policy is to coalesce: every frame an entry of its own, so that it can go.
///
/// While there is room it is a plain queue; it only takes note of which entries a later one of the same name and object
/// replaces. When there is none, the replaced ones go all at once, by raising `goneUpTo` to the present epoch, and after them
/// the oldest one by one. Each step costs the same however long the queue is. What went is told by a gap frame that is made
/// when the writer comes to the place; the memory of what went is given back when half of the queue's is of that kind, and gaps
/// that are neighbours become one then: a reader that never comes costs no more than its limit.
final class CoalescingQueue {
    private struct Entry {
        var storage: ByteStorage
        var start: Int
        var end: Int
        /// 0 for what can't be replaced: answers, gaps, and the frame under way.
        var key: UInt64 = 0
        /// What a notification that goes leaves missing, or what a gap tells.
        var missing = Gap()
        /// The epoch in which it was replaced; 0 if it wasn't.
        var replacedIn: UInt64 = 0
        var isNotification = false
        /// A gap that can grow: it was not begun to be written.
        var isGap = false

        var count: Int { end - start }
    }

    private var entries: [Entry] = []
    private var head = 0
    /// How many entries were removed before `entries[0]`: what the indexes of `newest` count from.
    private var base = 0
    private var newest: [UInt64: Int] = [:]
    private var epoch: UInt64 = 1
    private var goneUpTo: UInt64 = 0
    /// The next entry to look at when the oldest must go.
    private var oldest = 0
    private var replacedBytes = 0
    private var replacedCount = 0
    private var goneBytes = 0
    private var block: ByteStorage?
    private var blockUsed = 0
    /// The rest of a frame of which the first part came in another piece.
    private var partial: [UInt8] = []
    /// The bytes still to come of a frame whose beginning was written already.
    private var restOfFrame = 0
    private let keys: NotificationKeys

    private(set) var bytes = 0
    private(set) var notifications = 0

    init(keys: NotificationKeys) {
        self.keys = keys
    }

    var isEmpty: Bool { bytes == 0 && head == entries.count }

    private func isGone(_ entry: Entry) -> Bool { entry.replacedIn > 0 && entry.replacedIn <= goneUpTo }

    /// Says that the next bytes are the rest of a frame whose beginning was written already.
    func expectRest(of ledger: FrameLedger) {
        restOfFrame = ledger.left
        if ledger.isInNotification { notifications += 1 }
    }

    /// Appends a run of bytes.
    func append(_ piece: Piece, in owner: ByteStorage) {
        var position = piece.start
        let end = piece.start + piece.count
        if restOfFrame > 0 {
            let rest = min(restOfFrame, piece.count)
            store(
                UnsafeRawBufferPointer(start: position, count: rest), Entry(storage: owner, start: 0, end: 0))
            position += rest
            restOfFrame -= rest
        }
        while position < end {
            if !partial.isEmpty {
                position += continuePartial(from: position, to: end)
                continue
            }
            let length = FrameLedger.length(position)
            if end - position < length {
                partial.append(contentsOf: UnsafeRawBufferPointer(start: position, count: end - position))
                return
            }
            add(UnsafeRawBufferPointer(start: position, count: length), in: owner)
            position += length
        }
    }

    /// A frame with a large userInfo comes in pieces.
    private func continuePartial(from position: UnsafeRawPointer, to end: UnsafeRawPointer) -> Int {
        let length = partial.withUnsafeBytes { $0.baseAddress.map(FrameLedger.length) ?? 0 }
        let step = min(length - partial.count, end - position)
        partial.append(contentsOf: UnsafeRawBufferPointer(start: position, count: step))
        if partial.count == length {
            let whole = ByteStorage(capacity: length)
            partial.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(start: whole.base, count: length).copyMemory(from: $0)
            }
            partial = []
            add(whole.bytes(0..<length), in: whole)
        }
        return step
    }

    private func add(_ frame: UnsafeRawBufferPointer, in owner: ByteStorage) {
        guard let first = frame.baseAddress else { return }
        var entry = Entry(storage: owner, start: 0, end: 0)
        entry.isNotification = FrameLedger.isNotification(first)
        if !entry.isNotification {
            if let gap = Gap(frame: frame) {
                entry.missing = gap
                entry.isGap = true
            }
            return store(frame, entry)
        }
        notifications += 1
        if let key = keys.key(of: frame) {
            entry.key = key.hash
            entry.missing.add(key.seq)
            let index = base + entries.count
            if let previous = newest.updateValue(index, forKey: key.hash), previous >= base + head {
                replace(previous - base)
            }
        }
        store(frame, entry)
    }

    private func replace(_ index: Int) {
        guard entries[index].key != 0, entries[index].replacedIn == 0 else { return }
        entries[index].replacedIn = epoch
        replacedBytes += entries[index].count
        replacedCount += 1
    }

    private func store(_ frame: UnsafeRawBufferPointer, _ template: Entry) {
        var entry = template
        bytes += frame.count
        if frame.count * 2 >= entry.storage.capacity, let first = frame.baseAddress {
            entry.start = first - UnsafeRawPointer(entry.storage.base)
        } else {
            entry.storage = room(for: frame.count)
            entry.start = blockUsed
            UnsafeMutableRawBufferPointer(start: entry.storage.base + blockUsed, count: frame.count)
                .copyMemory(from: frame)
            blockUsed += frame.count
        }
        entry.end = entry.start + frame.count
        entries.append(entry)
    }

    private func room(for count: Int) -> ByteStorage {
        if let block, blockUsed + count <= block.capacity { return block }
        let fresh = ByteStorage(capacity: max(count, 16 << 10))
        block = fresh
        blockUsed = 0
        return fresh
    }

    /// Lets go of what was replaced, and then of the oldest, until at most `limit` bytes are held. Answers how many went.
    func shrink(to limit: Int) -> Int {
        guard bytes > limit else { return 0 }
        var gone = replacedCount
        bytes -= replacedBytes
        goneBytes += replacedBytes
        notifications -= replacedCount
        replacedBytes = 0
        replacedCount = 0
        goneUpTo = epoch
        epoch += 1
        oldest = max(oldest, head)
        while bytes > limit, oldest < entries.count {
            let entry = entries[oldest]
            if entry.key != 0, entry.replacedIn == 0 {
                entries[oldest].replacedIn = goneUpTo
                if newest[entry.key] == base + oldest { newest[entry.key] = nil }
                bytes -= entry.count
                goneBytes += entry.count
                notifications -= 1
                gone += 1
            }
            oldest += 1
        }
        if goneBytes > bytes + (64 << 10) { rebuild() }
        return gone
    }

    /// Gives back the memory of what went: gaps stand for it, and the rest moves together.
    private func rebuild() {
        let old = entries[head...]
        let wasAt = base + head
        entries = []
        base = wasAt
        head = 0
        oldest = 0
        block = nil
        newest.removeAll(keepingCapacity: true)
        bytes = 0
        goneBytes = 0
        var gap = Gap()
        for entry in old where entry.count > 0 {
            if isGone(entry) || entry.isGap {
                gap.add(entry.missing)
                continue
            }
            if gap.count > 0 { storeGap(gap) }
            gap = Gap()
            if entry.key != 0, entry.replacedIn == 0 { newest[entry.key] = base + entries.count }
            store(entry.storage.bytes(entry.start..<entry.end), entry)
        }
        if gap.count > 0 { storeGap(gap) }
    }

    private func storeGap(_ gap: Gap) {
        let frame = gap.frame()
        let storage = room(for: frame.count)
        let entry = Entry(storage: storage, start: 0, end: 0, missing: gap, isGap: true)
        frame.withUnsafeBytes { store($0, entry) }
    }

    /// Fills `pieces` from the head on; answers how many. Gaps on the way become frames.
    func gather(_ pieces: UnsafeMutableBufferPointer<Piece>) -> Int {
        var index = head
        var filled = 0
        while filled < pieces.count, index < entries.count {
            if isGone(entries[index]) { tellGap(at: index) }
            let entry = entries[index]
            if entry.count > 0 {
                pieces[filled] = Piece(
                    start: UnsafeRawPointer(entry.storage.base) + entry.start, count: entry.count)
                filled += 1
            }
            index += 1
        }
        return filled
    }

    /// Puts a gap frame in the place of the run of gone entries that begins here.
    private func tellGap(at first: Int) {
        var gap = Gap()
        var index = first
        while index < entries.count, isGone(entries[index]) {
            gap.add(entries[index].missing)
            goneBytes -= entries[index].count
            entries[index].start = entries[index].end
            clear(index)
            index += 1
        }
        let frame = gap.frame()
        let storage = room(for: frame.count)
        UnsafeMutableRawBufferPointer(start: storage.base + blockUsed, count: frame.count).copyBytes(
            from: frame)
        entries[first].storage = storage
        entries[first].start = blockUsed
        entries[first].end = blockUsed + frame.count
        entries[first].missing = gap
        entries[first].isGap = true
        blockUsed += frame.count
        bytes += frame.count
    }

    /// Makes an entry one that can neither be replaced nor go.
    private func clear(_ index: Int) {
        if newest[entries[index].key] == base + index { newest[entries[index].key] = nil }
        entries[index].key = 0
        entries[index].replacedIn = 0
        entries[index].isNotification = false
        entries[index].isGap = false
    }

    /// Removes what was written; answers how many notifications that completed.
    func remove(_ written: Int, _ ledger: inout FrameLedger) -> Int {
        bytes -= written
        var left = written
        var ended = 0
        while head < entries.count, left > 0 || entries[head].count == 0 {
            let entry = entries[head]
            let step = min(left, entry.count)
            ended += ledger.advance(UnsafeRawPointer(entry.storage.base) + entry.start, by: step)
            left -= step
            if step > 0, entry.replacedIn > 0 {
                replacedBytes -= entry.count
                replacedCount -= 1
            }
            if step < entry.count {
                let wasNotification = entry.isNotification
                clear(head)
                entries[head].isNotification = wasNotification
                entries[head].start += step
                break
            }
            if entry.key != 0, newest[entry.key] == base + head { newest[entry.key] = nil }
            head += 1
        }
        notifications -= ended
        trim()
        return ended
    }

    private func trim() {
        if head == entries.count {
            base += head
            entries.removeAll(keepingCapacity: true)
            head = 0
            oldest = 0
            block = nil
        } else if head >= 256, head * 2 >= entries.count {
            entries.removeFirst(head)
            base += head
            oldest = max(0, oldest - head)
            head = 0
        }
    }

    /// Hands what is left to `body`, in order and with gaps told, for a queue of another kind to take over.
    func forEachFrame(_ body: (Piece, ByteStorage, _ isNotification: Bool) -> Void) {
        for index in head..<entries.count {
            if isGone(entries[index]) { tellGap(at: index) }
            let entry = entries[index]
            if entry.count == 0 { continue }
            let start = UnsafeRawPointer(entry.storage.base) + entry.start
            body(Piece(start: start, count: entry.count), entry.storage, entry.isNotification)
        }
    }
}

/// Notifications that a connection missed.
struct Gap {
    var count: UInt64 = 0
    var first: UInt64 = 0
    var last: UInt64 = 0

    /// The longest frame of a gap.
    static let frameBytes = 112

    mutating func add(_ seq: UInt64) {
        add(Gap(count: 1, first: seq, last: seq))
    }

    mutating func add(_ other: Gap) {
        first = count == 0 ? other.first : min(first, other.first)
        last = max(last, other.last)
        count += other.count
    }

    init() {}

    init(count: UInt64, first: UInt64, last: UInt64) {
        self.count = count
        self.first = first
        self.last = last
    }

    /// Reads a frame that `frame` wrote; nil if it is another.
    init?(frame: UnsafeRawBufferPointer) {
        let opening: StaticString = "{\"type\":\"gap\","
        let start = 4 + opening.utf8CodeUnitCount
        guard frame.count > start,
            equalBytes(
                UnsafeRawBufferPointer(rebasing: frame[4..<start]),
                UnsafeRawBufferPointer(start: opening.utf8Start, count: opening.utf8CodeUnitCount))
        else { return nil }
        let numbers = frame[start...].split { $0 &- 0x30 >= 10 }.compactMap {
            JSONNumber.unsigned(UnsafeRawBufferPointer(rebasing: $0))
        }
        guard numbers.count == 3 else { return nil }
        self.init(count: numbers[0], first: numbers[1], last: numbers[2])
    }

    func frame() -> [UInt8] {
        var frame = FrameWriter("gap")
        frame.member("count", count)
        frame.member("first", first)
        frame.member("last", last)
        return frame.finish()
    }
}
