import TestSupport
import Testing
import WireProtocol

@testable import BrokerCore

/// What the broker answers, and whom it tells.
@Suite struct BrokerTests {
    private func codes(_ frames: [JSONValue]) -> [String] { frames.map { $0["code"]?.text ?? $0.type } }

    @Test func hello() throws {
        let world = World()
        let client = try world.connect()
        try world.send(client, #"{"type":"hello","protocol":1,"client":"me","features":["x"]}"#)
        try world.send(client, post("N"), #"{"type":"hello","id":2,"protocol":1}"#)
        try world.send(
            client, #"{"type":"hello","id":3,"protocol":1,"features":[]}"#,
            #"{"type":"hello","id":4,"protocol":2}"#)
        let frames = try world.news(client)
        #expect(codes(frames) == ["welcome", "welcome", "invalid-member", "unsupported-protocol"])
        #expect(frames[0]["seq"]?.int == 0 && frames[1]["seq"]?.int == 1)
        #expect(frames[0]["features"] == .array([]) && frames[0]["connection"]?.int == 1)
        #expect(frames[0]["broker"]?["instance"]?.text == "i")
        #expect(frames[0]["limits"]?["queueBytes"]?.int == 10_000)
        #expect(frames[3]["protocols"] == .array([.number("1")]) && frames[3]["id"]?.int == 4)
        #expect(world.broker.identity(client.slot)?.client == Array("me".utf8))
    }

    /// Features may stand in the first frame only, even if that one was refused.
    @Test(arguments: ["x", #"{"type":"ping","x":1}"#, #"{"type":"ping"}"#, #"{"type":"post","name":"N"}"#])
    func featuresComeFirst(frame: String) throws {
        let world = World()
        let client = try world.connect()
        try world.send(client, frame, #"{"type":"hello","protocol":1,"features":[]}"#)
        #expect(try codes(world.news(client)).last == "invalid-member")
    }

    @Test func receiptsCountConnections() throws {
        let world = World()
        let (sender, one, two) = try (world.connect(), world.connect(), world.connect())
        try world.send(one, observe("1", name: "N"), observe("2", match: "N*"), observe("3"))
        try world.send(two, observe("1", name: "N", object: "o"))
        try world.send(
            sender, post("N", id: 1), post("N", id: 2, object: "o"), post("x", id: 3),
            post("N", id: 4, object: ""))
        let frames = try world.news(sender)
        #expect(frames.compactMap { $0["receivers"]?.int } == [1, 2, 1, 1])
        #expect(frames.map(\.seq) == [1, 2, 3, 4])
        #expect(try world.told(one) == (1...4).map { .notification(seq: $0) })
        #expect(try world.told(two) == [.notification(seq: 2)])
    }

    @Test func observersComeAndGo() throws {
        let world = World { $0.limits.observers = 2 }
        let client = try world.connect()
        try world.send(
            client, observe("1", id: 1), observe("1", name: "x", id: 2), observe("2", id: 3),
            observe("3", id: 4),
            #"{"type":"removeObserver","observer":"9","id":5}"#,
            #"{"type":"removeObserver","observer":"1","id":6}"#,
            post("N", id: 7), #"{"type":"removeObserver","observer":"2","id":8}"#, post("N", id: 9))
        #expect(
            try codes(world.news(client)) == [
                "ok", "observer-exists", "ok", "limit-exceeded", "no-such-observer", "ok", "notification",
                "ok", "ok",
                "ok",
            ])
    }

    @Test func limitsOfNames() throws {
        let world = World()
        let client = try world.connect()
        let long = String(repeating: "é", count: 128)
        try world.send(
            client, post(long, id: 1), post("", id: 2), post("a\\u0000", id: 3), post("a\u{7F}", id: 4),
            post(String(repeating: "é", count: 127), id: 5),
            post("N", id: 6, object: String(repeating: "x", count: 1025)),
            post("N", id: 7, object: String(repeating: "\\u0041", count: 1024)), observe("", id: 8),
            observe(String(repeating: "x", count: 256), id: 9), observe("1", match: "a\\\\", id: 10),
            observe("1", match: "", id: 11), observe("1", name: long, id: 12),
            observe("1", match: long, id: 13))
        #expect(
            try codes(world.news(client)) == [
                "limit-exceeded", "invalid-member", "invalid-member", "invalid-member", "ok",
                "limit-exceeded", "ok",
                "invalid-member", "invalid-member", "invalid-member", "invalid-member", "limit-exceeded",
                "invalid-member",
            ])
    }

    @Test func errorsWithoutAnIdAreSentToo() throws {
        let world = World()
        let client = try world.connect()
        try world.send(client, "{", post(""), #"{"type":"ping"}"#, "[]")
        let frames = try world.news(client)
        #expect(codes(frames) == ["invalid-json", "invalid-member", "not-an-object"])
        #expect(frames.allSatisfy { $0["id"] == nil })
        #expect(world.broker.delivery.statistics.rejected == 3)
    }

    @Test func bytesOfUserInfoStayAsTheyAre() throws {
        let world = World()
        let client = try world.connect()
        try world.send(client, observe("1"))
        let info = #"{ "a" : 1.0, "a":1e400,"\u0062":"\/\ud83d\ude00é"  }"#
        try world.send(
            client, #"{"userInfo":\#(info),"name":"\u004e","type":"post","deliverImmediately":true}"#)
        let text = String(decoding: client.received, as: UTF8.self)
        #expect(text.contains(#""name":"\u004e","deliverImmediately":true,"userInfo":\#(info)}"#))
    }

    // Waiting for observers.

    @Test func awaitersAreAnswered() throws {
        let world = World()
        let (waiter, one, two) = try (world.connect(), world.connect(), world.connect())
        func wait(_ id: Int, _ count: Int, object: String? = nil) -> String {
            let object = object.map { #","object":"\#($0)""# } ?? ""
            return #"{"type":"awaitObservers","id":\#(id),"name":"N","count":\#(count)\#(object)}"#
        }
        try world.send(waiter, wait(1, 1), wait(2, 2), wait(3, 1, object: "o"), #"{"type":"ping","id":4}"#)
        #expect(try world.news(waiter).map { $0["id"]?.int } == [4])
        try world.send(one, observe("1", match: "N", object: "o"))
        #expect(try world.news(waiter).map { $0["id"]?.int } == [3])
        try world.send(one, observe("2"))
        #expect(try world.news(waiter).map { $0["id"]?.int } == [1])
        try world.send(two, observe("1", name: "N"))
        let last = try world.news(waiter)
        #expect(last.map { $0["id"]?.int } == [2] && last[0]["receivers"]?.int == 2)
        try world.send(waiter, wait(5, 2), wait(6, 3))
        #expect(try world.news(waiter).map { $0["id"]?.int } == [5])
        // Those of a client that has gone are forgotten.
        try world.finish(waiter)
        try world.send(try world.connect(), observe("1"))
        #expect(waiter.isClosed)
    }

    @Test func awaitingIsBounded() throws {
        let world = World { $0.limits.observers = 3 }
        let client = try world.connect()
        for id in 0..<4 {
            try world.send(client, #"{"type":"awaitObservers","id":\#(id),"name":"N","count":1}"#)
        }
        #expect(try codes(world.news(client)) == ["limit-exceeded"])
    }

    // Status.

    @Test func figures() throws {
        let world = World()
        let (sender, slow) = try (world.connect(), world.connect(reads: false))
        try world.send(
            slow, #"{"type":"hello","protocol":1,"client":"slow"}"#, observe("1", match: "N*"), observe("2"))
        for _ in 0..<40 { world.write(sender, framed(post("N", bytes: 500).utf8)) }
        try world.run()
        try world.pass(2.5)
        let asking = try world.connect()
        try world.send(asking, "[]")
        try world.send(asking, #"{"type":"status","id":9}"#)
        let status = try #require(try world.news(asking).last)
        #expect(status["id"]?.int == 9 && status["pid"]?.int == 77 && status["uptime"]?.int == 2)
        #expect(status["connections"]?.int == 3 && status["observers"]?.int == 2)
        #expect(status["rejected"]?.int == 1 && status["busiest"] == nil)
        let session = try #require(world.broker.sessions[slow.slot])
        #expect(status["posted"]?.int == Int(world.broker.encoder.seq))
        #expect(status["delivered"]?.int == Int(session.delivered) && session.delivered > 0)
        #expect(status["queuedBytes"]?.int == world.pending(slow))
        let clients = status["clients"]?.values ?? []
        #expect(clients.map { $0["paused"] } == [.bool(true), .bool(false), .bool(false)])
        #expect(clients.map { $0["client"]?.text } == [nil, "slow", nil])
        #expect(clients.map { $0["program"]?.text } == ["program100", "program101", "program102"])
        #expect(clients[0]["posted"]?.int == Int(world.broker.encoder.seq))
        #expect(clients[1]["queuedBytes"]?.int == world.pending(slow) && clients[1]["connection"] == nil)
    }

    @Test func details() throws {
        let world = World()
        let client = try world.connect()
        for index in 0..<40 { try world.send(client, observe("\(index)", name: "n\(index)")) }
        try world.send(client, post("before"), #"{"type":"status","id":1,"detail":true}"#)
        for _ in 0..<3 { try world.send(client, post("hot")) }
        try world.send(client, post("n1"), observe("all"), #"{"type":"status","id":2,"detail":true}"#)
        let statuses = try world.news(client).filter { $0.type == "status" }
        #expect(statuses[0]["busiest"] == .array([]))
        #expect(statuses[1]["busiest"]?[0]?["name"]?.text == "hot")
        #expect(statuses[1]["busiest"]?[0]?["count"]?.int == 3)
        let observing = statuses[1]["clients"]?[0]?["observing"]?.values ?? []
        #expect(observing.count == 32)
        #expect(statuses[1]["clients"]?[0]?["connection"]?.int == 1)
    }

    @Test func otherUsersSeeTheirOwnOnly() throws {
        let world = World()
        let (own, foreign) = try (world.connect(), world.connect(uid: 600))
        try world.send(own, observe("1"), #"{"type":"status","id":1,"detail":true}"#, post("secret"))
        try world.send(foreign, #"{"type":"status","id":1,"detail":true}"#)
        let status = try #require(try world.news(foreign).last)
        #expect(status["connections"]?.int == 2 && status["clients"]?.values.count == 1)
        #expect(status["clients"]?[0]?["uid"]?.int == 600 && status["busiest"] == .array([]))
    }

    // Other users.

    @Test func whoMayNotConnectIsTold() throws {
        let world = World { $0.maxConnections = 8 }
        #expect(world.admitted(uid: 999) == nil)
        for _ in 0..<2 { _ = try world.connect(uid: 600) }
        #expect(world.admitted(uid: 600) == nil)
        guard case .refused(let goodbye, _) = world.broker.connect(Credentials(pid: 1, uid: 999, gid: 1))
        else {
            Issue.record("admitted")
            return
        }
        let frames = try texts(of: goodbye).map { try JSONValue(parsing: $0) }
        #expect(frames.map { $0["reason"]?.text } == ["refused"])
        let one = try #require(world.clients.first)
        try world.finish(one)
        #expect(world.admitted(uid: 600) != nil)
    }

    /// Another user can't make anybody wait for it.
    @Test func anotherUsersWaitIsADrop() throws {
        let world = World()
        let (sender, foreign) = try (world.connect(), world.connect(uid: 600, reads: false))
        try world.send(foreign, observe("1", overflow: "wait"))
        for _ in 0..<60 { world.write(sender, framed(post("N", bytes: 500).utf8)) }
        try world.run()
        #expect(!world.isPaused(sender))
        try world.readAll(foreign)
        guard case .gap? = try world.told(foreign).last else {
            Issue.record("no gap")
            return
        }
    }

    /// One connection's share of a turn is bounded, in bytes for all receivers together.
    @Test func aWidePostTakesTurns() throws {
        let world = World(queueBytes: 1 << 20)
        world.checksInvariants = false
        let sender = try world.connect()
        let clients = try (0..<200).map { _ in try world.connect(room: 1 << 20) }
        for client in clients { world.write(client, framed(observe("1").utf8)) }
        try world.run()
        for _ in 0..<400 { world.write(sender, framed(post("N").utf8)) }
        try world.run()
        #expect(world.yields == 3)
        #expect(clients.allSatisfy { $0.received == clients[0].received })
        #expect(try world.told(clients[0]).count == 400)
    }
}
