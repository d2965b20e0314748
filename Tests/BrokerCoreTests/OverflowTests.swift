import TestSupport
import Testing
import WireProtocol

@testable import BrokerCore

/// What is lost when a queue is full, and how that is told.
@Suite struct OverflowTests {
    /// Drives one slow receiver that never makes anybody wait.
    private struct Scene {
        let world: World
        let sender: World.Client
        let slow: World.Client

        init(_ overflow: String, queueBytes: Int = 10_000) throws {
            world = World(queueBytes: queueBytes)
            sender = try world.connect()
            slow = try world.connect(reads: false)
            try world.send(slow, observe("1", overflow: overflow))
        }

        func post(_ count: Int, _ name: (Int) -> String = { "n\($0)" }, bytes: Int = 500) throws {
            for index in 0..<count {
                try world.send(sender, BrokerCoreTests.post(name(index), id: index, bytes: bytes))
            }
        }

        func receipts() throws -> [Int] { try world.news(sender).compactMap { $0["receivers"]?.int } }
    }

    /// The seqs of a stream, with gaps read as what they must stand for: the missing ones in between.
    private func expectWhole(_ told: [Told], upTo last: UInt64) {
        var next: UInt64 = 1
        for frame in told {
            switch frame {
            case .notification(let seq):
                #expect(seq == next)
                next = seq + 1
            case .gap(let count, let first, let end):
                #expect(first == next && end == first + count - 1)
                next = end + 1
            case .retained, .other: break
            }
        }
        #expect(next == last + 1)
    }

    @Test func dropKeepsTheOldestAndTellsTheRest() throws {
        let scene = try Scene("drop")
        try scene.post(50)
        let receipts = try scene.receipts()
        let kept = receipts.count { $0 == 1 }
        #expect(kept > 10 && kept < 25)
        #expect(receipts == (0..<50).map { $0 < kept ? 1 : 0 })
        try scene.world.readAll(scene.slow)
        let told = try scene.world.told(scene.slow)
        // The gap comes as soon as there is room, without a further post.
        #expect(
            told == (1...UInt64(kept)).map { .notification(seq: $0) }
                + [.gap(count: UInt64(50 - kept), first: UInt64(kept + 1), last: 50)])
        #expect(scene.world.broker.delivery.statistics.dropped == UInt64(50 - kept))
    }

    @Test func aGapStandsBeforeWhatIsNewer() throws {
        let scene = try Scene("drop")
        for _ in 0..<30 {
            try scene.post(3)
            try scene.world.take(scene.slow, 700)
        }
        try scene.world.readAll(scene.slow)
        try expectWhole(scene.world.told(scene.slow), upTo: 90)
    }

    @Test func onlyTheFullOneMissesAnything() throws {
        let scene = try Scene("drop")
        let quick = try scene.world.connect()
        try scene.world.send(quick, observe("1", overflow: "drop"))
        try scene.post(50)
        #expect(try scene.world.told(quick) == (1...50).map { .notification(seq: $0) })
        #expect(try scene.receipts().allSatisfy { $0 >= 1 })
    }

    @Test func coalesceKeepsTheLastOfEachNameAndObject() throws {
        let scene = try Scene("coalesce")
        try scene.post(200) { "n\($0 % 5)" }
        #expect(try scene.receipts() == Array(repeating: 1, count: 200))
        #expect(scene.world.pending(scene.slow) <= 10_000 + 1000)
        try scene.world.readAll(scene.slow)
        let told = try scene.world.told(scene.slow)
        expectWhole(told, upTo: 200)
        #expect(told.suffix(5) == (196...200).map { .notification(seq: $0) })
        let delivered = told.count { if case .notification = $0 { true } else { false } }
        #expect(scene.world.broker.delivery.statistics.dropped == UInt64(200 - delivered))
    }

    @Test func coalesceLetsTheOldestGoIfNothingIsReplaced() throws {
        let scene = try Scene("coalesce")
        try scene.post(100)
        try scene.world.readAll(scene.slow)
        let told = try scene.world.told(scene.slow)
        expectWhole(told, upTo: 100)
        #expect(told.last == .notification(seq: 100))
        #expect(told.count { if case .gap = $0 { true } else { false } } == 1)
    }

    /// A reader that never comes holds its limit, however long it lasts.
    @Test func coalescingIsBounded() throws {
        let scene = try Scene("coalesce", queueBytes: 4000)
        for round in 0..<40 {
            for index in 0..<50 {
                scene.world.write(scene.sender, framed(post("n\(round).\(index)", bytes: 300).utf8))
            }
            try scene.world.run()
            #expect(scene.world.pending(scene.slow) <= 4000 + 600)
        }
        try scene.world.readAll(scene.slow)
        try expectWhole(scene.world.told(scene.slow), upTo: 2000)
    }

    @Test func theMostLosslessPolicyHolds() throws {
        let world = World()
        let sender = try world.connect()
        let slow = try world.connect(reads: false)
        try world.send(
            slow, observe("1", overflow: "drop"), observe("2", overflow: "wait"),
            observe("3", overflow: "coalesce"))
        for _ in 0..<50 { world.write(sender, framed(post("N", bytes: 500).utf8)) }
        try world.run()
        #expect(world.isPaused(sender))
        // Without the one who waits nobody has to; what is queued by then stays.
        try world.send(slow, #"{"type":"removeObserver","observer":"2"}"#)
        #expect(!world.isPaused(sender))
        try world.readAll(slow)
        try expectWhole(world.told(slow), upTo: 50)
    }

    /// Whoever misses something and then wants everything gets everything from then on.
    @Test(arguments: ["wait", "coalesce"])
    func nothingIsDroppedAnyMoreAfterTheChange(overflow: String) throws {
        let scene = try Scene("drop")
        try scene.post(50)
        try scene.world.take(scene.slow, 10)
        _ = try scene.receipts()
        let missed = scene.world.broker.delivery.statistics.dropped
        #expect(missed > 0)
        try scene.world.send(scene.slow, observe("2", overflow: overflow))
        try scene.post(1, bytes: 3000)
        #expect(try scene.receipts() == [1])
        #expect(scene.world.isPaused(scene.sender) == (overflow == "wait"))
        try scene.world.readAll(scene.slow)
        let told = try scene.world.told(scene.slow)
        expectWhole(told, upTo: 51)
        #expect(told.last == .notification(seq: 51))
    }

    /// Policies that come and go while frames are under way lose nothing untold.
    @Test(arguments: 1...15)
    func changingPoliciesKeepTheStreamWhole(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let world = World(queueBytes: 6000)
        let sender = try world.connect()
        let slow = try world.connect(reads: false, room: 300)
        try world.send(slow, observe("base", overflow: "drop"))
        var labels: [String] = []
        var posts: UInt64 = 0
        for round in 0..<150 {
            switch random.below(8) {
            case 0:
                labels.append("l\(round)")
                try world.send(
                    slow, observe("l\(round)", overflow: random.pick(["wait", "coalesce", "coalesce"])))
            case 1, 2:
                if labels.isEmpty { continue }
                let label = labels.remove(at: random.below(labels.count))
                try world.send(slow, #"{"type":"removeObserver","observer":"\#(label)"}"#)
            case 3...5:
                let count = random.below(8)
                for _ in 0..<count {
                    world.write(sender, framed(post("n\(random.below(4))", bytes: random.below(900)).utf8))
                }
                posts += UInt64(count)
                try world.pass(0.01)
            default: try world.take(slow, random.below(2000))
            }
        }
        try world.readAll(slow)
        try world.pass(0.1)
        try expectWhole(world.told(slow), upTo: posts)
        let session = try #require(world.broker.sessions[slow.slot])
        #expect(
            session.delivered + world.broker.sessions.losses[Int(session.slot)].dropped == posts,
            "seed \(seed)")
    }

    /// One post that has a gap told to very many, and a receipt for its sender.
    @Test func gapsForManyLeaveRoomForTheReceipt() throws {
        let world = World(queueBytes: 3000) { $0.maxConnections = 2000 }
        world.checksInvariants = false
        let sender = try world.connect()
        let slow = try (0..<1200).map { _ in try world.connect(reads: false, room: 50) }
        for client in slow { world.write(client, framed(observe("1", overflow: "drop").utf8)) }
        try world.run()
        for id in 0..<8 { try world.send(sender, post("N", id: id, bytes: 500)) }
        // All have missed something that was not told, and want everything from now on.
        for client in slow { world.write(client, framed(observe("2").utf8)) }
        try world.run()
        try world.send(sender, post("N", id: 99, bytes: 10))
        #expect(try world.news(sender).last?["receivers"]?.int == 1200)
        for client in slow { client.reads = true }
        try world.run()
        let told = try slow.map { Array(try world.told($0).suffix(2)) }
        #expect(Set(told).count == 1 && told[0].last == .notification(seq: 9))
    }

    /// Who reads nothing any more but goes on asking is not answered, and costs nothing.
    @Test func largeAnswersToAClosedOne() throws {
        let world = World()
        let client = try world.connect()
        for _ in 0..<200 { _ = try world.connect() }
        world.broker.endOutput(client.slot)
        for id in 0..<20 { try world.send(client, #"{"type":"status","id":\#(id)}"#) }
        #expect(world.pending(client) == 0)
        #expect(world.broker.delivery.backlogged == 0)
        try world.finish(client)
        #expect(client.isClosed)
    }
}
