import TestSupport
import Testing
import WireProtocol

@testable import BrokerCore

@Suite struct RetainedTests {
    private func names(_ frames: [JSONValue]) -> [String] { frames.compactMap { $0["name"]?.text } }

    @Test func itComesAfterTheOkWithWhatItHadFirst() throws {
        let world = World()
        let sender = try world.connect()
        try world.send(sender, post("a", retain: "true"), post("b", object: "o", bytes: 3, retain: "true"))
        try world.pass(5)
        let observer = try world.connect()
        try world.send(observer, observe("late\\u0021", id: 7))
        let frames = try world.news(observer)
        #expect(frames.map(\.type) == ["ok", "notification", "notification"])
        #expect(names(frames) == ["a", "b"])
        for (frame, seq) in zip(frames.dropFirst(), 1...2) {
            #expect(frame["retained"] == .bool(true) && frame["observer"]?.text == "late!")
            #expect(frame.seq == seq && frame["time"]?.int == 1_000_000)
            #expect(frame["sender"]?["connection"]?.int == Int(sender.connection))
        }
        #expect(frames[2]["object"]?.text == "o" && frames[2]["userInfo"]?["k"]?.text == "xxx")
        // A second observer gets them too, the first not again.
        try world.send(observer, observe("2", name: "b"))
        let again = try world.news(observer)
        #expect(names(again) == ["b"] && again[0]["observer"]?.text == "2")
    }

    @Test func whatIsReplacedOrClearedIsNotGiven() throws {
        let world = World()
        let sender = try world.connect()
        let live = try world.connect()
        try world.send(live, observe("1"))
        try world.send(
            sender, post("a", retain: "true"), post("a", object: "o", retain: "true"),
            post("a", retain: "true"),
            post("b", retain: "true"), post("b", retain: #""clear""#), post("a", retain: "false"))
        #expect(try world.told(live) == (1...6).map { .notification(seq: $0) })
        let observer = try world.connect()
        try world.send(observer, observe("1"))
        #expect(try world.told(observer) == [.retained(seq: 2), .retained(seq: 3)])
        try world.send(observer, observe("2", name: "a", object: "o"))
        #expect(try world.told(observer) == [.retained(seq: 2)])
        try world.send(observer, observe("3", match: "b*"))
        #expect(try world.told(observer).isEmpty)
    }

    /// The whole state reaches a slow receiver whatever its policy, and takes no room ahead.
    @Test(arguments: ["wait", "drop", "coalesce"])
    func aStateLargerThanTheQueue(overflow: String) throws {
        let world = World(queueBytes: 8000)
        let sender = try world.connect()
        for index in 0..<60 { try world.send(sender, post("n\(index)", bytes: 900, retain: "true")) }
        let slow = try world.connect(reads: false)
        try world.send(slow, observe("1", overflow: overflow, id: 1))
        #expect(world.pending(slow) < 8000 / 4 + 2000)
        // What is posted meanwhile comes behind, and one that is replaced is not given from the store.
        try world.send(sender, post("n59", bytes: 10, retain: "true"), post("n50", retain: #""clear""#))
        try world.readAll(slow)
        let told = try world.told(slow)
        let retained = told.compactMap { if case .retained(let seq) = $0 { seq } else { nil } }
        #expect(retained == (1...59).filter { $0 != 51 })
        #expect(told.suffix(2) == [.notification(seq: 61), .notification(seq: 62)])
        #expect(world.broker.delivery.statistics.dropped == 0)
    }

    @Test func theRoomIsBounded() throws {
        let world = World { $0.retainedBytes = 100 }
        let sender = try world.connect()
        try world.send(
            sender, post("a", id: 1, bytes: 60, retain: "true"), post("b", id: 2, bytes: 60, retain: "true"))
        let frames = try world.news(sender)
        #expect(frames.map(\.type) == ["ok", "error"])
        #expect(frames[1]["code"]?.text == "limit-exceeded")
        #expect(world.broker.encoder.seq == 1)
        try world.send(sender, post("a", id: 3, bytes: 80, retain: "true"))
        #expect(try world.news(sender).map(\.type) == ["ok"])
    }

    @Test func anotherUserHasAQuarterAndItsOwnOnly() throws {
        let world = World { $0.retainedBytes = 400 }
        let (own, foreign, other) = try (world.connect(), world.connect(uid: 600), world.connect(uid: 601))
        try world.send(own, post("a", retain: "true"))
        try world.send(
            foreign, post("a", id: 1, retain: "true"), post("a", id: 2, retain: #""clear""#),
            post("b", id: 3, bytes: 50, retain: "true"), post("c", id: 4, bytes: 50, retain: "true"))
        #expect(
            try world.news(foreign).map { $0["code"]?.text ?? $0.type }
                == ["not-permitted", "not-permitted", "ok", "limit-exceeded"])
        try world.send(other, post("b", id: 1, retain: "true"), post("c", id: 2, bytes: 50, retain: "true"))
        #expect(try world.news(other).map { $0["code"]?.text ?? $0.type } == ["not-permitted", "ok"])
        // The broker's own user may do all.
        try world.send(own, post("b", id: 1, retain: #""clear""#), post("c", id: 2, retain: "true"))
        #expect(try world.news(own).map(\.type) == ["ok", "ok"])
        try world.send(foreign, post("d", id: 5, bytes: 50, retain: "true"))
        #expect(try world.news(foreign).map(\.type) == ["ok"])
    }

    @Test func atTheEndOfInputWhatWasNotReadYetIsNotGiven() throws {
        let world = World()
        let sender = try world.connect()
        for index in 0..<20 { try world.send(sender, post("n\(index)", bytes: 1000, retain: "true")) }
        let slow = try world.connect(reads: false)
        try world.send(slow, observe("1"))
        try world.finish(slow)
        try world.readAll(slow)
        #expect(try world.told(slow).count < 6)
        #expect(slow.isClosed)
    }

    @Test func removingTheObserverStopsNothingThatWasQueued() throws {
        let world = World()
        let sender = try world.connect()
        for index in 0..<5 { try world.send(sender, post("n\(index)", bytes: 1000, retain: "true")) }
        let slow = try world.connect(reads: false)
        try world.send(slow, observe("1"), #"{"type":"removeObserver","observer":"1","id":1}"#)
        try world.readAll(slow)
        try world.send(sender, post("later"))
        let told = try world.told(slow)
        guard case .other? = told.last else {
            Issue.record("something follows the ok: \(told)")
            return
        }
    }
}
