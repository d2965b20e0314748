import TestSupport
import Testing
import WireProtocol

@testable import BrokerCore

/// What the clock ends: frames under way, clients that drain, the broker itself.
@Suite struct TimeTests {
    private static let half = Array(framed(post("N").utf8).prefix(20))
    private static let rest = Array(framed(post("N").utf8).dropFirst(20))

    @Test func aFrameMustBecomeWhole() throws {
        let world = World()
        let client = try world.connect()
        world.write(client, Self.half)
        try world.run()
        try world.pass(9.9)
        #expect(try world.news(client).isEmpty)
        try world.pass(0.2)
        let frames = try world.news(client)
        #expect(frames.map { $0["code"]?.text ?? $0["reason"]?.text } == ["frame-timeout", "protocol-error"])
        #expect(frames[0]["message"]?.text?.contains("20 bytes of it came") == true)
        #expect(client.isClosed)
    }

    @Test func theClockBeginsWithEachFrame() throws {
        let world = World()
        let client = try world.connect()
        for _ in 0..<5 {
            world.write(client, Self.half)
            try world.run()
            try world.pass(9)
            world.write(client, Self.rest)
            try world.run()
        }
        #expect(world.broker.encoder.seq == 5)
        try world.pass(100)
        #expect(!client.isClosed)
    }

    /// Bytes that trickle in don't wind the clock up again.
    @Test func aTrickleIsNoExcuse() throws {
        let world = World()
        let client = try world.connect()
        for byte in framed(post("N", bytes: 100).utf8) where !client.isClosed {
            world.write(client, [byte])
            try world.run()
            try world.pass(0.5)
        }
        #expect(client.isClosed)
        #expect(world.broker.encoder.seq == 0)
    }

    @Test func theClockStandsStillWhileTheClientIsNotRead() throws {
        let world = World { $0.patience = 1000 * World.second }
        let sender = try world.connect()
        let stuck = try world.connect(reads: false)
        try world.send(stuck, observe("1"))
        for _ in 0..<40 { world.write(sender, framed(post("N", bytes: 500).utf8)) }
        world.write(sender, Self.half)
        try world.run()
        #expect(world.isPaused(sender))
        try world.pass(60)
        #expect(!sender.isClosed)
        try world.readAll(stuck)
        #expect(!world.isPaused(sender))
        try world.pass(9)
        #expect(!sender.isClosed)
        world.write(sender, Self.rest)
        try world.run()
        #expect(world.broker.encoder.seq == 41)
    }

    @Test func itGoesOnWhereItStood() throws {
        let world = World { $0.patience = 1000 * World.second }
        let (client, other) = try (world.connect(reads: false, room: 100), world.connect())
        // It waits for 300 observers, and begins a frame; then they come, and their answers fill its queue.
        for id in 0..<300 {
            world.write(client, framed(#"{"type":"awaitObservers","id":\#(id),"name":"N","count":1}"#.utf8))
        }
        world.write(client, Self.half)
        try world.run()
        try world.pass(8)
        try world.send(other, observe("1"))
        #expect(world.isPaused(client))
        try world.pass(60)
        #expect(!client.isClosed && world.broker.sessions[client.slot]?.isOpen == true)
        try world.readAll(client)
        #expect(!world.isPaused(client))
        try world.pass(1.9)
        #expect(!client.isClosed)
        try world.pass(0.2)
        #expect(client.isClosed)
    }

    // Ends.

    @Test func whatCameWholeBeforeTheEndIsProcessed() throws {
        let world = World()
        let receiver = try world.connect()
        try world.send(receiver, observe("1"))
        let sender = try world.connect()
        world.readSize = 7
        world.write(sender, framed(post("N").utf8) + framed(post("M").utf8) + Self.half)
        try world.vanish(sender)
        #expect(try world.news(receiver).map { $0["name"]?.text } == ["N", "M"])
        #expect(sender.isClosed)
    }

    @Test func atTheEndOfInputWhatIsQueuedIsStillWritten() throws {
        let world = World()
        let sender = try world.connect()
        let slow = try world.connect(reads: false)
        try world.send(slow, observe("1"))
        for _ in 0..<10 { world.write(sender, framed(post("N", bytes: 500).utf8)) }
        try world.run()
        try world.finish(slow)
        try world.pass(0.01)
        try world.send(sender, post("late", id: 1))
        #expect(try world.news(sender).last?["receivers"]?.int == 0)
        #expect(!slow.isClosed)
        try world.readAll(slow)
        #expect(try world.news(slow).count == 10)
        #expect(slow.isClosed)
    }

    @Test func drainingLastsForThePatience() throws {
        let world = World()
        let sender = try world.connect()
        let slow = try world.connect(reads: false)
        try world.send(slow, observe("1"))
        for _ in 0..<10 { world.write(sender, framed(post("N", bytes: 500).utf8)) }
        try world.run()
        let delivered = world.broker.delivery.statistics.delivered
        try world.finish(slow)
        try world.pass(2.9)
        #expect(!slow.isClosed)
        try world.pass(0.2)
        #expect(slow.isClosed)
        #expect(world.broker.delivery.statistics.dropped == 10 - delivered)
    }

    @Test func aBrokenLengthEndsTheConnectionBehindItsAnswers() throws {
        let world = World()
        let client = try world.connect()
        world.write(client, framed(#"{"type":"ping","id":1}"#.utf8) + [0, 0, 0, 0] + framed(post("N").utf8))
        try world.run()
        let frames = try world.news(client)
        #expect(frames.map(\.type) == ["ok", "error", "goodbye"])
        #expect(frames[1]["code"]?.text == "invalid-length")
        #expect(client.isClosed && world.broker.encoder.seq == 0)
    }

    @Test func aFrameThatIsTooLongIsRefusedByItsLength() throws {
        let world = World { $0.limits.frameBytes = 100 }
        let client = try world.connect()
        world.write(client, [0, 0, 0, 101])
        try world.run()
        #expect(try world.news(client).first?["code"]?.text == "frame-too-large")
        #expect(client.isClosed)
    }

    @Test func stoppingSaysGoodbyeBehindAllThatIsQueued() throws {
        let world = World()
        let (sender, quick) = try (world.connect(), world.connect())
        let slow = try world.connect(reads: false)
        slow.extraRoom = 0
        for client in [quick, slow] { try world.send(client, observe("1")) }
        for _ in 0..<10 { world.write(sender, framed(post("N", bytes: 500).utf8)) }
        try world.run()
        try world.pass(0.01)
        try world.send(sender, #"{"type":"stop","id":1}"#)
        #expect(world.broker.wasAskedToStop)
        world.broker.stop(within: World.second)
        try world.run()
        #expect(sender.isClosed && quick.isClosed && !slow.isClosed)
        #expect(try world.news(quick).last?["reason"]?.text == "shutting-down")
        try world.readAll(slow)
        let frames = try world.news(slow)
        #expect(frames.count == 11 && frames.last?["reason"]?.text == "shutting-down")
        #expect(world.broker.connectionCount == 0)
    }

    @Test func stoppingDoesNotWaitForEver() throws {
        let world = World()
        let sender = try world.connect()
        let stuck = try world.connect(reads: false)
        try world.send(stuck, observe("1"))
        for _ in 0..<10 { world.write(sender, framed(post("N", bytes: 500).utf8)) }
        try world.run()
        world.broker.stop(within: World.second)
        try world.run()
        try world.pass(1.1)
        #expect(world.broker.connectionCount == 0)
    }

    @Test func othersMayNotStopIt() throws {
        let world = World()
        let foreign = try world.connect(uid: 600)
        try world.send(foreign, #"{"type":"stop","id":1}"#)
        #expect(try world.news(foreign).first?["code"]?.text == "not-permitted")
        #expect(!world.broker.wasAskedToStop)
        let root = try world.connect(uid: 0)
        try world.send(root, #"{"type":"stop"}"#)
        #expect(world.broker.wasAskedToStop)
    }

    /// The time of notifications never goes back.
    @Test func theWallClockMayGoBack() throws {
        let world = World()
        let client = try world.connect()
        try world.send(client, observe("1"))
        try world.send(client, post("N"))
        world.broker.begin(Moment(monotonic: world.now, wall: 99_999_999))
        try world.send(client, post("N"))
        world.broker.begin(Moment(monotonic: world.now, wall: 5))
        try world.send(client, post("N"))
        let times = try world.news(client).compactMap { $0["time"]?.int }
        #expect(times == [1_000_000, 99_999_999, 99_999_999])
    }

    /// A connection that ends leaves nothing, whatever it was in the middle of.
    @Test func endedConnectionsLeaveNothing() throws {
        let world = World()
        let keeper = try world.connect(reads: false)
        try world.send(keeper, observe("1", name: "N"))
        for round in 0..<30 {
            let client = try world.connect(reads: false)
            #expect(client.slot <= 2)
            try world.send(
                client, observe("1"), observe("2", match: "a*", object: "o"),
                #"{"type":"awaitObservers","id":1,"name":"x","count":9}"#)
            for _ in 0..<20 { world.write(client, framed(post("N", bytes: 600).utf8)) }
            for _ in 0..<20 { world.write(client, framed(post("own", bytes: 600).utf8)) }
            world.write(client, Self.half)
            try world.run()
            switch round % 3 {
            case 0: try world.vanish(client)
            case 1: world.broker.breakOff(client.slot)
            default:
                client.reads = true
                try world.finish(client)
            }
            try world.run()
            keeper.reads = true
            try world.pass(4)
            keeper.reads = false
            #expect(client.isClosed, "round \(round)")
        }
        let broker = world.broker
        let session = try #require(broker.sessions[keeper.slot])
        #expect(broker.connectionCount == 1 && session.waiters.isEmpty && session.blockedOn.isEmpty)
        #expect(broker.delivery.statistics.observers == 1 && broker.delivery.queuedBytes == 0)
        try world.send(keeper, post("x", id: 5))
        try world.readAll(keeper)
        guard case .other(let receipt)? = try world.told(keeper).last else {
            Issue.record("no receipt")
            return
        }
        #expect(receipt.hasSuffix(#""receivers":0}"#))
        #expect(broker.deadline == nil || broker.endedSlots.isEmpty)
    }
}
