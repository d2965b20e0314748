import TestSupport
import Testing
import WireProtocol

@testable import BrokerCore

private let gapOpening = Array("{\"type\":\"gap".utf8)

/// An outbox beside a plain list of what should be in it.
private struct OutboxModel {
    struct Entry {
        var frame: [UInt8]
        /// nil for what can't be replaced.
        var key: String?
        var seq: UInt64?
        var isGone = false
    }

    let outbox: Outbox
    var ledger = FrameLedger()
    var random: SeededGenerator
    var isCoalescing: Bool
    let maker = FrameMaker()
    var entries: [Entry] = []
    /// The frames that were appended, by number of those written whole or begun.
    var output: [UInt8] = []
    var ended = 0
    var gone = 0

    init(seed: UInt64, coalescing: Bool) {
        random = SeededGenerator(seed: seed)
        isCoalescing = coalescing
        outbox = Outbox(coalescing: coalescing, keys: NotificationKeys(hash: ByteHash(seed: seed)))
    }

    mutating func append() {
        var frames: [[UInt8]] = []
        let count = 1 + random.below(5)
        for _ in 0..<count {
            if random.oneIn(4) {
                var answer = FrameWriter("ok")
                answer.member("id", entries.count + frames.count)
                frames.append(answer.finish())
                entries.append(Entry(frame: frames[frames.count - 1]))
                continue
            }
            let letter = random.pick(["A", "B", "C"])
            let spelt = random.oneIn(3) ? "\\u004\(["A": 1, "B": 2, "C": 3][letter] ?? 0)" : letter
            let object = random.pick([nil, #""""#, #""x\"""#])
            let size = random.pick([0, 10, 100, 3000, 20_000])
            let info =
                random.oneIn(4) ? nil : "{\"k\":\"\(String(repeating: "v", count: random.below(size + 1)))\"}"
            if random.oneIn(10) {
                frames.append(maker.retained("\"\(spelt)\"", userInfo: info ?? "{}"))
                entries.append(Entry(frame: frames[frames.count - 1], seq: maker.seq))
            } else {
                frames.append(maker.notification("\"\(spelt)\"", object: object, userInfo: info))
                entries.append(
                    Entry(frame: frames[frames.count - 1], key: "\(letter) \(object ?? "-")", seq: maker.seq))
            }
        }
        give(frames)
    }

    /// In one piece, or with the middle of a frame in other memory.
    private mutating func give(_ frames: [[UInt8]]) {
        let byReference = random.oneIn(2)
        if frames.count == 1, frames[0].count > 300, random.oneIn(2) {
            let cut = 200 + random.below(50)
            let frame = frames[0]
            give([frame[..<cut], frame[cut..<frame.count - 1], frame[(frame.count - 1)...]], byReference)
        } else {
            give([Array(frames.joined())[...]], byReference, frames.count { $0[13] == UInt8(ascii: "n") })
        }
    }

    private func give(_ pieces: [ArraySlice<UInt8>], _ byReference: Bool, _ notifications: Int = 1) {
        var notifications = notifications
        for bytes in pieces {
            let storage = ByteStorage(capacity: bytes.count + 8)
            UnsafeMutableRawBufferPointer(start: storage.base + 8, count: bytes.count).copyBytes(from: bytes)
            outbox.append(
                Piece(start: UnsafeRawPointer(storage.base) + 8, count: bytes.count),
                notifications: notifications, in: storage, byReference: byReference)
            notifications = 0
        }
    }

    /// The kernel takes some of what is offered.
    mutating func write(all: Bool = false) {
        var pieces = [Piece](repeating: .none, count: all ? 10_000 : 1 + random.below(40))
        let count = pieces.withUnsafeMutableBufferPointer { outbox.gather($0) }
        let offered = pieces[..<count].flatMap {
            Array(UnsafeRawBufferPointer(start: $0.start, count: $0.count))
        }
        if all { #expect(offered.count == outbox.bytes) }
        let taken = all ? offered.count : random.below(offered.count + 1)
        output += offered[..<taken]
        ended += outbox.remove(taken, &ledger)
    }

    /// How many of the entries are written or begun.
    private var begun: Int {
        var passed = 0
        var index = 0
        let stream = (try? texts(of: Array(output.dropLast(partial)))) ?? []
        for text in stream {
            if text.starts(with: gapOpening) { continue }
            while index < entries.count, entries[index].isGone { index += 1 }
            index += 1
            passed = index
        }
        if ledger.left > 0, !isInGap {
            while passed < entries.count, entries[passed].isGone { passed += 1 }
            passed += 1
        }
        return passed
    }

    /// The bytes at the output's end that belong to a frame under way.
    private var partial: Int {
        var position = 0
        while position + 4 <= output.count {
            let length = 4 + output[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            if position + length > output.count { break }
            position += length
        }
        return output.count - position
    }

    private var isInGap: Bool {
        let start = output.count - partial
        let head = gapOpening
        // A header that is not whole yet is looked up in what would come next.
        guard partial >= 4 + head.count else {
            var pieces = [Piece](repeating: .none, count: 1)
            let count = pieces.withUnsafeMutableBufferPointer { outbox.gather($0) }
            guard count == 1 else { return false }
            let rest = UnsafeRawBufferPointer(start: pieces[0].start, count: pieces[0].count)
            return (Array(output[start...]) + Array(rest.prefix(20))).dropFirst(4).starts(with: head)
        }
        return output[(start + 4)...].starts(with: head)
    }

    mutating func shrink(to limit: Int) {
        guard isCoalescing else { return }
        let first = begun
        let before = outbox.bytes
        var expected = 0
        if before > limit {
            var bytes = before
            var newer: Set<String> = []
            for index in entries.indices.reversed() where index >= first && !entries[index].isGone {
                guard let key = entries[index].key, !newer.insert(key).inserted else { continue }
                entries[index].isGone = true
                bytes -= entries[index].frame.count
                expected += 1
            }
            for index in entries.indices.dropFirst(first) where bytes > limit {
                if entries[index].isGone || entries[index].key == nil { continue }
                entries[index].isGone = true
                bytes -= entries[index].frame.count
                expected += 1
            }
        }
        let went = outbox.shrink(to: limit)
        #expect(went == expected)
        gone += went
    }

    /// All is written: what came out is what was not gone, in order, with the gone ones told where they stood.
    func check(_ place: Comment) throws {
        #expect(outbox.isEmpty && outbox.bytes == 0 && outbox.notifications == 0, place)
        #expect(ledger.isAtBoundary, place)
        var wanted: [[UInt8]] = []
        var gap = Gap()
        func endGap() {
            if gap.count > 0 { wanted.append(Array(gap.frame().dropFirst(4))) }
            gap = Gap()
        }
        for entry in entries {
            if entry.isGone, let seq = entry.seq {
                gap.add(seq)
            } else {
                endGap()
                wanted.append(Array(entry.frame.dropFirst(4)))
            }
        }
        endGap()
        let found = Self.joiningGaps(try texts(of: output))
        try #require(found.count == wanted.count, place)
        for (one, other) in zip(found, wanted) where one != other {
            Issue.record(
                "\(place): \(String(decoding: one.prefix(150), as: UTF8.self)) instead of \(String(decoding: other.prefix(150), as: UTF8.self))"
            )
            break
        }
        #expect(ended == entries.count { $0.seq != nil && !$0.isGone }, place)
        #expect(gone == entries.count { $0.isGone }, place)
    }

    /// A gap that was told in two parts, because one was on its way before the other arose, counts as one.
    private static func joiningGaps(_ texts: [[UInt8]]) -> [[UInt8]] {
        var joined: [[UInt8]] = []
        var last: (count: UInt64, first: UInt64, last: UInt64)?
        for text in texts {
            guard text.starts(with: gapOpening), case .gap(let count, let first, let end)? = try? Told(text)
            else {
                joined.append(text)
                last = nil
                continue
            }
            if let before = last {
                #expect(first > before.last)
                joined.removeLast()
            }
            last = (count + (last?.count ?? 0), last?.first ?? first, end)
            let gap = last.map { Gap(count: $0.count, first: $0.first, last: $0.last) } ?? Gap()
            joined.append(Array(gap.frame().dropFirst(4)))
        }
        return joined
    }
}

@Suite struct OutboxTests {
    @Test(arguments: 1...40)
    func everyFrameComesOutOrIsTold(seed: UInt64) throws {
        var model = OutboxModel(seed: seed, coalescing: seed % 4 != 0)
        for _ in 0..<60 {
            switch model.random.below(12) {
            case 0...4: model.append()
            case 5...8: model.write()
            case 9, 10: model.shrink(to: model.random.pick([0, 100, 2000, 30_000]))
            default:
                guard seed % 4 > 1 else { continue }
                model.isCoalescing.toggle()
                model.outbox.setCoalescing(model.isCoalescing, model.ledger)
            }
        }
        model.write(all: true)
        try model.check("seed \(seed)")
    }

    /// What is forgotten is all but the rest of the frame under way.
    @Test(arguments: 1...40)
    func discardingKeepsTheFrameUnderWay(seed: UInt64) throws {
        var model = OutboxModel(seed: seed, coalescing: seed % 2 == 0)
        for _ in 0..<20 {
            model.append()
            if model.random.oneIn(3) { model.write() }
            if model.random.oneIn(6) { model.shrink(to: 500) }
        }
        let before = model.outbox.notifications
        let stays = model.ledger.isInNotification ? 1 : 0
        #expect(model.outbox.discard(keeping: model.ledger) == before - stays, "seed \(seed)")
        #expect(
            model.outbox.bytes == model.ledger.left && model.outbox.notifications == stays, "seed \(seed)")
        model.write(all: true)
        #expect(model.outbox.isEmpty && model.ledger.isAtBoundary, "seed \(seed)")
        _ = try texts(of: model.output)
    }

    @Test func whatWentGivesItsMemoryBack() {
        let queue = CoalescingQueue(keys: NotificationKeys(hash: ByteHash(seed: 1)))
        let maker = FrameMaker()
        weak var first: ByteStorage?
        for number in 0..<400 {
            let frame = maker.notification(
                "\"n\(number)\"", userInfo: "{\"k\":\"\(String(repeating: "x", count: 2000))\"}")
            let storage = ByteStorage(capacity: frame.count)
            UnsafeMutableRawBufferPointer(start: storage.base, count: frame.count).copyBytes(from: frame)
            if number == 0 { first = storage }
            queue.append(Piece(start: UnsafeRawPointer(storage.base), count: frame.count), in: storage)
            _ = queue.shrink(to: 10_000)
        }
        #expect(first == nil)
        #expect(queue.bytes <= 10_000)
        var pieces = [Piece](repeating: .none, count: 300)
        let count = pieces.withUnsafeMutableBufferPointer { queue.gather($0) }
        #expect(count <= 8)
    }

    /// A replay stands between what came before it and what came after, and takes no room ahead.
    @Test(arguments: [false, true])
    func replaysInTheirPlace(coalescing: Bool) throws {
        let keys = NotificationKeys(hash: ByteHash(seed: 1))
        let outbox = Outbox(coalescing: coalescing, keys: keys)
        let maker = FrameMaker()
        var store = RetainedStore(room: 1 << 20)
        for seq in 101...UInt64(120) {
            let size = seq % 5 == 0 ? 20_000 : 50
            [UInt8](repeating: 0x20, count: size).withUnsafeBytes { spaces in
                let info = Array("{".utf8) + Array(spaces) + Array("}".utf8)
                info.withUnsafeBytes { info in
                    store.keep(
                        RetainedNotification(
                            seq: seq, time: 1, sender: FrameMaker.sender, name: Array("n\(seq)".utf8),
                            object: nil,
                            deliverImmediately: false, userInfo: info))
                }
            }
        }
        func append(_ frame: [UInt8]) {
            let storage = ByteStorage(capacity: frame.count)
            UnsafeMutableRawBufferPointer(start: storage.base, count: frame.count).copyBytes(from: frame)
            outbox.append(
                Piece(start: UnsafeRawPointer(storage.base), count: frame.count), notifications: 1,
                in: storage,
                byReference: false)
        }
        append(maker.notification("\"a\""))
        outbox.append(Replay(label: [0x6C], store.matching(.everything, object: nil)), coalescing: coalescing)
        append(maker.notification("\"a\""))
        #expect(outbox.bytes < 500 && !outbox.awaitsReplay)
        var ledger = FrameLedger()
        var output: [UInt8] = []
        var ended = 0
        var largest = 0
        var random = SeededGenerator(seed: 1)
        var isCoalescing = coalescing
        while !outbox.isEmpty {
            if outbox.awaitsReplay { outbox.pullReplay(upTo: 1000) }
            largest = max(largest, outbox.bytes)
            var pieces = [Piece](repeating: .none, count: 4)
            let count = pieces.withUnsafeMutableBufferPointer { outbox.gather($0) }
            let offered = pieces[..<count].flatMap {
                Array(UnsafeRawBufferPointer(start: $0.start, count: $0.count))
            }
            let taken = random.below(offered.count + 1)
            output += offered[..<taken]
            ended += outbox.remove(taken, &ledger)
            if random.oneIn(10) {
                isCoalescing.toggle()
                outbox.setCoalescing(isCoalescing, ledger)
                if isCoalescing { #expect(outbox.shrink(to: 100) <= 1) }
            }
        }
        let told = try texts(of: output).map { try Told($0) }
        let retained = told.compactMap { if case .retained(let seq) = $0 { seq } else { nil } }
        #expect(retained == Array(101...120))
        #expect(told.first == .notification(seq: 1))
        #expect(told.last == .notification(seq: 2) || told.last == .gap(count: 1, first: 2, last: 2))
        #expect(largest < 25_000)
    }

    @Test func droppedReplaysLeaveTheRest() throws {
        let outbox = Outbox(coalescing: false, keys: NotificationKeys(hash: ByteHash(seed: 1)))
        var store = RetainedStore(room: 1 << 20)
        store.keep(
            RetainedNotification(
                seq: 1, time: 1, sender: FrameMaker.sender, name: [0x61], object: nil,
                deliverImmediately: false,
                userInfo: nil))
        outbox.append(Replay(label: [0x6C], store.matching(.everything, object: nil)), coalescing: false)
        #expect(!outbox.isEmpty && outbox.awaitsReplay)
        outbox.dropReplays()
        #expect(outbox.isEmpty)
    }
}
