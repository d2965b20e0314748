import TestSupport
import Testing
import UnixIO

/// A broker that is absent, hangs, talks nonsense, refuses, or dies.
@Suite(.ownThreads) struct TroubleTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    @Test func noBroker() throws {
        try stage.start("send-data", "x").expectFailure(69, "\(stage.socket)", within: 5)
        try stage.start("send-data", "-w", "1", "x").expectFailure(69, "\(stage.socket)", within: 5)
        try stage.start("send-data", "-l", input: .open).expectFailure(69, "\(stage.socket)", within: 5)
        try stage.start("receive-data").expectFailure(69, "\(stage.socket)", within: 5)
        try stage.start("notification-broker", "status").expectFailure(69, "\(stage.socket)", within: 5)
        try stage.start("notification-broker", "stop").expectFailure(69, "\(stage.socket)", within: 5)
        let plain = try stage.file("plain", "keep me".utf8)
        try stage.start("send-data", "-S", "\(plain)", "x").expectFailure(69)
        #expect(try stage.contents("plain") == "keep me")
    }

    @Test func aBrokerThatNeverAnswers() throws {
        let fake = try stage.fakeBroker()
        let sender = try stage.start("send-data", "-t", "0.4", "x")
        let peer = try fake.accept()
        try sender.expectFailure(75, "deliver")
        _ = peer
        for (arguments, status) in [(["-t", "0.4"], 0), (["-c", "1", "-t", "0.4"], 124)]
            as [([String], Int32)]
        {
            let receiver = try stage.start("receive-data", bytes: arguments.map { Array($0.utf8) })
            let silent = try fake.accept()
            try receiver.errorLine("did not answer in time; nothing was observed")
            try receiver.expectEnd(status, output: "")
            _ = silent
        }
        let patient = try stage.start("send-data", "-t", "0", "x")
        let other = try fake.accept()
        try stage.expect("it waits for ever", during: 0.6) { try patient.isRunning }
        try other.acceptPost(seq: 1)
        try patient.expectEnd()
    }

    @Test func nonsenseInsteadOfAnAnswer() throws {
        let fake = try stage.fakeBroker()
        let answers: [[UInt8]] = [
            Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), [0xFF, 0xFF, 0xFF, 0xFF, 0x7B, 0x7D],
            [0, 0, 0, 4, 0xFF, 0xFE, 0, 1], [0, 0, 0, 2, 0x5B, 0x5D],
            [0, 0, 0, 9] + Array("{\"type\":1".utf8), [0, 0, 0, 0],
        ]
        for answer in answers {
            for (tool, arguments) in [
                ("send-data", ["-t", "5", "x"]), ("receive-data", ["--no-reconnect", "-t", "5"]),
            ] {
                let tool = try stage.start(tool, bytes: arguments.map { Array($0.utf8) })
                let peer = try fake.accept()
                _ = try peer.frame()
                try peer.send(raw: answer)
                try tool.expectFailure(76, within: 4)
            }
        }
    }

    @Test func errorAnswersAreStatuses() throws {
        let fake = try stage.fakeBroker()
        for (code, status) in [
            ("invalid-member", 65), ("invalid-utf8", 65), ("too-deep", 65), ("limit-exceeded", 65),
            ("novel-code", 65),
            ("not-permitted", 77),
        ] as [(String, Int32)] {
            let sender = try stage.start("send-data", "x")
            let peer = try fake.accept()
            var frame = try peer.frame()
            while frame["type"] != .string("post") {
                try peer.answer(frame)
                frame = try peer.frame()
            }
            let id = frame["id"]?.int ?? -1
            try peer.send(#"{"type":"error","id":\#(id),"code":"\#(code)","message":"for reason\n4711"}"#)
            try sender.expectFailure(status, "4711")
        }
    }

    @Test func aGoodbyeThatRefuses() throws {
        let fake = try stage.fakeBroker()
        for (tool, arguments) in [("send-data", ["x"]), ("receive-data", [])] {
            let tool = try stage.start(tool, bytes: arguments.map { Array($0.utf8) })
            let peer = try fake.accept()
            try peer.send(#"{"type":"goodbye","reason":"refused","message":"for reason 4711"}"#)
            peer.shutdownWriting()
            try tool.expectFailure(77, "4711", within: 5)
        }
    }

    @Test func aBrokerThatGoesSaysHowManyWereAccepted() throws {
        let fake = try stage.fakeBroker()
        let lines = String(repeating: "line\n", count: 20_000)
        let sender = try stage.start("send-data", "-l", input: .bytes(Array(lines.utf8)))
        var peer: FrameClient? = try fake.accept()
        for seq in 1...37 { try peer?.acceptPost(seq: seq) }
        peer = nil
        try sender.expectFailure(69, "37")
        let closed = try stage.start("send-data", "x")
        _ = try fake.accept()
        try closed.expectFailure(69)
    }

    @Test func aKilledBrokerEndsASenderThatWaitsForALine() throws {
        let broker = try stage.broker()
        let sender = try stage.start("send-data", "-lpq", input: .open)
        try sender.write("one\n")
        _ = try sender.line()
        try broker.send(.kill)
        #expect(try sender.status(within: 5) == 69)
        #expect(sender.errorLines.count == 1 && sender.errorText.contains("1"), "\(sender.errorText)")
    }

    @Test func noReconnectEndsWithTheBroker() throws {
        for signal in [Signal.kill, .terminate] {
            let broker = try stage.broker()
            let receiver = try stage.receiver("--no-reconnect")
            try broker.send(signal)
            #expect(try receiver.status() == 69)
            #expect(receiver.errorLines.count == 1)
            _ = try broker.status()
        }
    }

    @Test func aReceiverConnectsAgain() throws {
        let broker = try stage.broker()
        let receiver = try stage.start(
            "receive-data", "-n", "A", "-n", "B", "-m", "c.*", "-f", "data", "-c", "5")
        try stage.awaitObservers("A")
        try stage.send("-n", "A", "1")
        try receiver.expectLine("1")
        try broker.send(.kill)
        _ = try broker.status()
        try receiver.errorLine("receive-data: ")
        let second = try stage.broker()
        for name in ["A", "B", "c.d"] { try stage.awaitObservers(name) }
        for (name, data) in [("A", "2"), ("B", "3"), ("other", "-"), ("c.d", "4")] {
            try stage.send("-qn", name, "--", data)
        }
        for data in ["2", "3", "4"] { try receiver.expectLine(data) }
        try second.send(.terminate)
        try second.expectEnd()
        try stage.broker()
        try stage.awaitObservers("B")
        try stage.send("-n", "B", "5")
        try receiver.expectEnd(output: "1\n2\n3\n4\n5\n")
    }

    @Test func withoutABrokerAReceiverStillEndsInTime() throws {
        let broker = try stage.broker()
        let receiver = try stage.receiver("-t", "1.5", "-c", "1")
        try broker.send(.kill)
        try receiver.errorLine("receive-data: ")
        try receiver.expectEnd(124)
    }

    @Test func whoWasCutComesBackToDrop() throws {
        let fake = try stage.fakeBroker()
        for (arguments, reason, wanted) in [
            ([], "slow-receiver", "drop"), ([], "shutting-down", "wait"), ([], "novel-reason", "wait"),
            (["--overflow", "wait"], "slow-receiver", "wait"),
        ] {
            let receiver = try stage.start("receive-data", bytes: arguments.map { Array($0.utf8) })
            var peer: FrameClient? = try fake.accept()
            try peer?.acceptObserver()
            try peer?.send(#"{"type":"goodbye","reason":"\#(reason)","message":"for a reason"}"#)
            peer = nil
            let again = try fake.accept()
            #expect(
                try again.acceptObserver()["overflow"]?.text ?? "wait" == wanted, "\(reason) \(arguments)")
            try receiver.send(.kill)
            _ = try receiver.status()
        }
    }
}
