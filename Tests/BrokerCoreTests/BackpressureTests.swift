import TestSupport
import Testing
import WireProtocol

@testable import BrokerCore

/// Who can wait for whom, and what ends the wait.
@Suite struct BackpressureTests {
    private func seqs(_ frames: [Told]) -> [Int] {
        frames.compactMap { if case .notification(let seq) = $0 { Int(seq) } else { nil } }
    }

    @Test func aSenderWaitsForAReceiverAndGoesOnBelowHalf() throws {
        let world = World()
        let sender = try world.connect()
        let receiver = try world.connect(reads: false)
        try world.send(receiver, observe("1", name: "N"))
        var sent = 0
        while !world.isPaused(sender), sent < 100 {
            try world.send(sender, post("N", bytes: 500))
            try world.pass(0.01)
            sent += 1
        }
        #expect(world.pending(receiver) > 10_000)
        let paused = world.pending(receiver)
        while world.pending(receiver) >= 5000 {
            #expect(world.isPaused(sender))
            try world.take(receiver, 100)
        }
        #expect(paused > 10_000)
        try world.readAll(receiver)
        #expect(!world.isPaused(sender))
        #expect(try seqs(world.told(receiver)) == Array(1...sent))
    }

    /// A queue is over its limit by at most one frame for each connection that posts to it.
    @Test(arguments: [1, 2, 7])
    func aQueueExceedsItsLimitByOneFrameEach(senders: Int) throws {
        let world = World()
        let receiver = try world.connect(reads: false, room: 100)
        try world.send(receiver, observe("1"))
        let posters = try (0..<senders).map { _ in try world.connect() }
        for round in 0..<50 {
            for poster in posters { world.write(poster, framed(post("n\(round)", bytes: 900).utf8)) }
        }
        try world.run()
        let frame = 1200
        #expect(posters.allSatisfy { world.isPaused($0) })
        #expect(world.pending(receiver) > 10_000 - frame)
        #expect(world.pending(receiver) <= 10_000 + senders * frame)
        try world.readAll(receiver)
        #expect(try seqs(world.told(receiver)) == Array(1...(50 * senders)))
    }

    /// A post that alone is larger than the queue goes through.
    @Test func aFrameLargerThanTheQueue() throws {
        let world = World()
        let sender = try world.connect()
        let receivers = try (0..<3).map { _ in try world.connect(reads: false) }
        for (receiver, overflow) in zip(receivers, ["wait", "drop", "coalesce"]) {
            try world.send(receiver, observe("1", overflow: overflow))
        }
        for _ in 0..<3 {
            try world.send(sender, post("N", bytes: 40_000))
            for receiver in receivers {
                try world.readAll(receiver)
                receiver.reads = false
            }
        }
        for receiver in receivers {
            #expect(try seqs(world.told(receiver)) == [1, 2, 3])
        }
    }

    /// The bytes of a large userInfo are the same for all, and are not copied for each.
    @Test func manyStuckBehindOneLargeFrame() throws {
        let world = World(queueBytes: 1 << 20)
        let sender = try world.connect()
        let receivers = try (0..<20).map { _ in try world.connect(reads: false) }
        for receiver in receivers { try world.send(receiver, observe("1")) }
        try world.send(sender, post("N", bytes: 100_000))
        var storages: Set<UnsafeRawPointer> = []
        for receiver in receivers {
            var pieces = [Piece](repeating: .none, count: 8)
            world.broker.setBlocked(receiver.slot, false)
            let count = pieces.withUnsafeMutableBufferPointer { world.broker.gather(receiver.slot, $0) }
            for piece in pieces[..<count] where piece.count > 90_000 {
                storages.insert(piece.start + piece.count)
            }
        }
        #expect(storages.count == 1)
    }

    @Test func whoPostsToItselfWaitsForItselfOnly() throws {
        let world = World()
        let selfish = try world.connect(reads: false)
        let other = try world.connect()
        try world.send(selfish, observe("1", name: "own"))
        try world.send(other, observe("1", name: "N"))
        for _ in 0..<60 { world.write(selfish, framed(post("own", bytes: 500).utf8)) }
        try world.run()
        #expect(world.isPaused(selfish))
        try world.send(other, post("N", id: 1))
        #expect(try world.news(other).map(\.type) == ["notification", "ok"])
        // Reading is what ends its wait.
        try world.readAll(selfish)
        #expect(try seqs(world.told(selfish)).count == 60)
        #expect(!world.isPaused(selfish))
    }

    @Test func whoPostsToItselfAndNeverReadsIsCut() throws {
        let world = World()
        let selfish = try world.connect(reads: false)
        try world.send(selfish, observe("1"))
        for _ in 0..<60 { world.write(selfish, framed(post("own", bytes: 500).utf8)) }
        try world.run()
        try world.pass(2.9)
        #expect(!selfish.isClosed && world.broker.sessions[selfish.slot]?.isOpen == true)
        try world.pass(1)
        try world.readAll(selfish)
        let frames = try world.news(selfish)
        #expect(frames.last?["reason"]?.text == "slow-receiver")
        #expect(selfish.isClosed)
    }

    @Test func twoThatPostToEachOther() throws {
        let world = World()
        let both = try [world.connect(reads: false), world.connect(reads: false)]
        let bystanders = try [world.connect(), world.connect()]
        for (client, name) in zip(both, ["a", "b"]) { try world.send(client, observe("1", name: name)) }
        try world.send(bystanders[0], observe("1", name: "N"))
        for _ in 0..<60 {
            world.write(both[0], framed(post("b", bytes: 500).utf8))
            world.write(both[1], framed(post("a", bytes: 500).utf8))
        }
        try world.run()
        #expect(both.allSatisfy { world.isPaused($0) })
        try world.send(bystanders[1], post("N"))
        #expect(try world.news(bystanders[0]).map(\.type) == ["notification"])
        // One that reads frees the other, which then is free to read.
        both[0].reads = true
        both[1].reads = true
        try world.run()
        for client in both { #expect(try seqs(world.told(client)).count == 60) }
    }

    @Test func twoThatPostToEachOtherAndNeverReadAreCut() throws {
        let world = World()
        let both = try [world.connect(reads: false), world.connect(reads: false)]
        for (client, name) in zip(both, ["a", "b"]) { try world.send(client, observe("1", name: name)) }
        for _ in 0..<60 {
            world.write(both[0], framed(post("b", bytes: 500).utf8))
            world.write(both[1], framed(post("a", bytes: 500).utf8))
        }
        try world.run()
        try world.pass(5)
        for client in both { #expect(client.isClosed) }
    }

    /// One that never reads delays the others by the patience, once.
    @Test func oneThatNeverReadsDelaysTheOthersForThePatienceOnly() throws {
        let world = World()
        let sender = try world.connect()
        let stuck = try world.connect(reads: false)
        let reader = try world.connect()
        for client in [stuck, reader] { try world.send(client, observe("1")) }
        for _ in 0..<100 { world.write(sender, framed(post("N", bytes: 500).utf8)) }
        try world.run()
        let before = try seqs(world.told(reader)).count
        #expect(before < 100 && world.isPaused(sender))
        try world.pass(2.9)
        #expect(try seqs(world.told(reader)).isEmpty)
        try world.pass(0.6)
        #expect(!world.isPaused(sender))
        #expect(try seqs(world.told(reader)).count == 100 - before)
        // It has another second to take its goodbye, which comes behind the frame under way.
        try world.readAll(stuck)
        let frames = try world.news(stuck)
        #expect(frames.map(\.type).suffix(2) == ["notification", "goodbye"])
        #expect(frames.last?["reason"]?.text == "slow-receiver")
        #expect(world.events.contains { if case .cut = $0 { true } else { false } })
        #expect(stuck.isClosed)
    }

    @Test func theGoodbyeWaitsASecond() throws {
        let world = World()
        let sender = try world.connect()
        let stuck = try world.connect(reads: false)
        stuck.extraRoom = 0
        try world.send(stuck, observe("1"))
        for _ in 0..<100 { world.write(sender, framed(post("N", bytes: 500).utf8)) }
        try world.run()
        try world.pass(3.5)
        #expect(!stuck.isClosed)
        try world.pass(1.2)
        #expect(stuck.isClosed)
        #expect(world.broker.connectionCount == 1)
    }

    /// Who sends to many waits for the slowest; who sends to others than that one doesn't.
    @Test func aWidePosterBesideNarrowOnes() throws {
        let world = World()
        let (wide, narrow) = try (world.connect(), world.connect())
        let (slow, quick) = try (world.connect(reads: false), world.connect())
        try world.send(slow, observe("1", name: "all"))
        try world.send(quick, observe("1", name: "all"), observe("2", name: "few"))
        for _ in 0..<100 { world.write(wide, framed(post("all", bytes: 500).utf8)) }
        try world.run()
        #expect(world.isPaused(wide) && !world.isPaused(narrow))
        for _ in 0..<100 { world.write(narrow, framed(post("few", bytes: 500).utf8)) }
        try world.run()
        #expect(!world.isPaused(narrow))
        #expect(try world.news(quick).count { $0["name"]?.text == "few" } == 100)
    }

    /// Nobody is cut while no sender has more to say.
    @Test func withoutPressureNobodyIsCut() throws {
        let world = World()
        let sender = try world.connect()
        let stuck = try world.connect(reads: false)
        try world.send(stuck, observe("1"))
        for _ in 0..<100 where !world.isPaused(sender) {
            try world.send(sender, post("N", bytes: 500))
            try world.pass(0.01)
        }
        #expect(world.isPaused(sender))
        try world.pass(100)
        #expect(!stuck.isClosed)
        // Now there is more; the patience begins.
        try world.send(sender, post("N", bytes: 500))
        try world.pass(2.9)
        #expect(world.isPaused(sender))
        try world.pass(1)
        #expect(!world.isPaused(sender))
    }

    /// A client that reads a little now and then is not cut, though the kernel has room for more only rarely.
    @Test func readingALittleIsEnough() throws {
        let world = World(queueBytes: 20_000)
        let sender = try world.connect()
        let slow = try world.connect(reads: false, room: 15_000)
        try world.send(slow, observe("1"))
        for _ in 0..<200 { world.write(sender, framed(post("N", bytes: 500).utf8)) }
        try world.run()
        slow.room = 15_000
        for _ in 0..<20 {
            try world.pass(2)
            // The broker itself writes nothing: the kernel's buffer has no room as far as it is told.
            slow.room = max(0, slow.held.count - 10)
            try world.take(slow, 10)
            #expect(!slow.isClosed)
        }
        #expect(world.isPaused(sender))
        #expect(!world.events.contains { if case .cut = $0 { true } else { false } })
        try world.pass(5)
        #expect(world.events.contains { if case .cut = $0 { true } else { false } })
    }

    @Test func aReceiverThatLeavesFreesItsSenders() throws {
        let world = World()
        let sender = try world.connect()
        let stuck = try world.connect(reads: false)
        try world.send(stuck, observe("1"))
        for _ in 0..<100 { world.write(sender, framed(post("N", id: 1, bytes: 500).utf8)) }
        try world.run()
        #expect(world.isPaused(sender))
        try world.vanish(stuck)
        #expect(!world.isPaused(sender) && stuck.isClosed)
        try world.pass(0.01)
        #expect(try world.told(sender).count == 100)
    }

    @Test func aSenderThatLeavesWhilePausedIsHeardToTheEnd() throws {
        let world = World()
        let sender = try world.connect()
        let slow = try world.connect(reads: false)
        try world.send(slow, observe("1"))
        for _ in 0..<100 { world.write(sender, framed(post("N", bytes: 500).utf8)) }
        try world.run()
        try world.vanish(sender)
        #expect(!sender.isClosed)
        try world.readAll(slow)
        #expect(try seqs(world.told(slow)) == Array(1...100))
        #expect(sender.isClosed)
    }

    /// A client that does not read its answers is not read.
    @Test func answersAreBounded() throws {
        let world = World()
        let client = try world.connect(reads: false)
        for id in 0..<5000 { world.write(client, framed(#"{"type":"ping","id":\#(id)}"#.utf8)) }
        try world.run()
        #expect(world.isPaused(client))
        #expect(world.pending(client) < 11_000)
        #expect(!client.sent.isEmpty || world.broker.sessions[client.slot]?.decoder.buffered ?? 0 > 0)
        try world.readAll(client)
        #expect(try world.news(client).compactMap { $0["id"]?.int } == Array(0..<5000))
    }

    @Test func whoNeverReadsItsAnswersIsCut() throws {
        let world = World()
        let client = try world.connect(reads: false)
        for id in 0..<5000 { world.write(client, framed(#"{"type":"ping","id":\#(id)}"#.utf8)) }
        try world.run()
        try world.pass(5)
        #expect(client.isClosed)
    }

    // The ease of senders.

    @Test func aSenderIsEasedForAMoment() throws {
        let world = World(queueBytes: 100_000)
        let sender = try world.connect()
        let slow = try world.connect(reads: false)
        try world.send(slow, observe("1"))
        for _ in 0..<10 { try world.send(sender, post("N", bytes: 500)) }
        #expect(!world.isPaused(sender))
        #expect(!world.broker.isReading(sender.slot))
        try world.pass(0.006)
        #expect(world.broker.isReading(sender.slot))
        // The receiver has been blocked for longer than a moment: nobody is eased on it any more.
        for _ in 0..<10 { try world.send(sender, post("N", bytes: 500)) }
        #expect(world.broker.isReading(sender.slot))
    }

    @Test func theEaseEndsWhenTheReceiverHasCaughtUp() throws {
        let world = World(queueBytes: 100_000)
        let sender = try world.connect()
        let slow = try world.connect(reads: false)
        try world.send(slow, observe("1"))
        for _ in 0..<20 { try world.send(sender, post("N", bytes: 500)) }
        #expect(!world.broker.isReading(sender.slot))
        try world.readAll(slow)
        #expect(world.broker.isReading(sender.slot))
        #expect(try seqs(world.told(slow)) == Array(1...20))
    }

    @Test(arguments: ["drop", "coalesce"])
    func nobodyIsEasedForWhoTakesWhatItCan(overflow: String) throws {
        let world = World(queueBytes: 100_000)
        let sender = try world.connect()
        let slow = try world.connect(reads: false)
        try world.send(slow, observe("1", overflow: overflow))
        for _ in 0..<20 { try world.send(sender, post("N", bytes: 500)) }
        #expect(world.broker.isReading(sender.slot))
    }

    /// The end of its moment doesn't make the broker forget that a paused sender has more to say.
    @Test func easedAndPausedAtOnce() throws {
        let world = World()
        let (sender, other) = try (world.connect(reads: false, room: 100), world.connect())
        let slow = try world.connect(reads: false, room: 10)
        try world.send(slow, observe("1", name: "N"))
        for id in 0..<300 {
            world.write(sender, framed(#"{"type":"awaitObservers","id":\#(id),"name":"M","count":1}"#.utf8))
        }
        try world.send(sender, post("N", bytes: 500))
        let session = try #require(world.broker.sessions[sender.slot])
        #expect(session.isEased && !session.isPaused)
        // The answers to what it waits for fill its queue.
        try world.send(other, observe("1", name: "M"))
        try world.send(sender, post("N"))
        #expect(session.isEased && session.isPaused && session.hasSentMore)
        try world.pass(0.01)
        #expect(!session.isEased && session.isPaused && session.hasSentMore)
        try world.pass(5)
        #expect(sender.isClosed)
    }
}
