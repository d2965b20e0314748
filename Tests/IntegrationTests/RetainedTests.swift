import TestSupport
import Testing
import UnixIO

/// Retained notifications, as users of the tools see them.
@Suite(.ownThreads) struct RetainedTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    @Test func theNewestPerNameAndObjectIsKept() throws {
        try stage.broker()
        for (name, object, data) in [
            ("state", "a", "old"), ("state", "b", "two"), ("state", "a", "one"), ("other", "a", "three"),
        ] {
            try stage.send("-qr", "-n", name, "-o", object, data)
        }
        try stage.send("-q", "-n", "state", "not kept")
        try stage.receiver("-n", "state", "-c", "2")
            .expectEnd(output: "NO DATA\nReceived data: two\nReceived data: one\n")
        try stage.receiver("-a", "-c", "3")
            .expectEnd(output: "NO DATA\nReceived data: two\nReceived data: one\nReceived data: three\n")
        try stage.receiver("-n", "state", "-o", "b", "-c", "1").expectEnd(
            output: "NO DATA\nReceived data: two\n")
        try stage.send("-q", "--clear", "-n", "state", "-o", "b")
        let rest = try stage.start("receive-data", "-n", "state", "-f", "json", "-c", "1")
        try rest.expectEnd()
        let frame = try JSONValue(parsing: rest.outputText.utf8)
        #expect(frame["retained"] == .bool(true))
        #expect(frame["object"] == .string("a"))
        #expect(frame["seq"]?.int == 3)
        #expect(frame["userInfo"]?["data"] == .string("one"))
    }

    @Test func theyCanBeLeftOut() throws {
        try stage.broker()
        try stage.send("-qr", "kept")
        let receiver = try stage.receiver("--no-retained", "-c", "1")
        try stage.send("live")
        try receiver.expectEnd(output: "NO DATA\nReceived data: live\n")
    }

    @Test func whatWasShownIsNotShownAgainAfterReconnecting() throws {
        try stage.broker()
        try stage.send("-qr", "kept")
        let receiver = try stage.receiver()
        try receiver.expectLine("Received data: kept")
        try stage.send("live")
        try receiver.expectLine("Received data: live")
    }

    @Test func theRoomIsBounded() throws {
        try stage.broker("--retained-bytes", "64K")
        let text = String(repeating: "x", count: 40_000)
        try stage.send("-qr", "-o", "1", text)
        try stage.start("send-data", "-qr", "-o", "2", text).expectFailure(65)
        try stage.send("-qr", "-o", "1", text)
        try stage.send("-q", "--clear", "-o", "1")
        try stage.send("-qr", "-o", "2", text)
    }
}
