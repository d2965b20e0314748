import TestSupport
import Testing
import UnixIO

/// What `receive-data` prints, and when it ends.
@Suite(.ownThreads) struct ReceiveDataTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    /// The standard output of a receiver of one notification with this userInfo.
    private func shown(_ userInfo: String?, _ arguments: String...) throws -> String {
        let fake = try stage.fakeBroker()
        let receiver = try stage.start(
            "receive-data", bytes: (["-c", "1"] + arguments).map { Array($0.utf8) })
        let peer = try fake.accept()
        try peer.acceptObserver()
        if let userInfo {
            try peer.notify(1, userInfo)
        } else {
            try peer.send(
                #"{"type":"notification","seq":1,"time":1,"sender":{"connection":9,"pid":1,"uid":0,"gid":0},"#
                    + #""name":"DataNotification"}"#)
        }
        try receiver.expectEnd()
        return receiver.outputText
    }

    @Test func aStringIsShownAsText() throws {
        #expect(
            try shown(#"{"data":"A\/\"\\\t\ud83d\ude00\u00e9\n"}"#, "-f", "data") == "A/\"\\\t😀é\n\n")
    }

    @Test(arguments: [
        "1", "1.0", "-0", "18446744073709551615", "1e400", "true", "null", "[1.0, \"two\"]", "{}",
    ])
    func otherValuesAreShownAsJSON(value: String) throws {
        #expect(try shown("{\"data\":\(value)}") == "NO DATA\nReceived data: \(value)\n")
    }

    @Test func aMissingKeyShowsAll() throws {
        #expect(try shown(#"{"other":"x","n":1.0}"#, "-f", "data") == #"{"other":"x","n":1.0}"# + "\n")
    }

    @Test func anotherKey() throws {
        #expect(
            try shown(#"{"data":"no","answ\u0065r":"42"}"#, "--key=answer") == "NO DATA\nReceived data: 42\n")
    }

    @Test func noUserInfoIsARecordToo() throws {
        let output = try shown(nil)
        #expect(output.hasPrefix("NO DATA\nReceived data: "))
        #expect(output.split(separator: "\n", omittingEmptySubsequences: false).count == 3)
    }

    @Test func jsonKeepsTheBytesInOneLine() throws {
        let info = #"{"z":1.0,"a":[1e400,-0,1E5,"\u0041\/"],"a":0.10}"#
        let frame = try shown(info, "-f", "json")
        #expect(frame.contains(info))
        #expect(try JSONValue(parsing: frame.utf8)["type"] == .string("notification"))
        let other = try Stage()
        let fake = try other.fakeBroker()
        let receiver = try other.start("receive-data", "-f", "json", "-c", "1")
        let peer = try fake.accept()
        try peer.acceptObserver()
        try peer.notify(1, "{\n  \"data\":\r\n \"x\\ny\",\n \"n\": 1.50\n}")
        try receiver.expectEnd()
        #expect(receiver.outputText.contains("{   \"data\":   \"x\\ny\",  \"n\": 1.50 }"))
        #expect(receiver.outputText.filter { $0.isNewline }.count == 1)
    }

    @Test func recordsEndWithNul() throws {
        try stage.broker()
        let data = try stage.start("receive-data", "-f", "data", "--null", "-c", "2")
        let label = try stage.start("receive-data", "-0c2")
        try stage.awaitObservers("DataNotification", 2)
        try stage.send("a\nb")
        try stage.send("")
        try data.expectEnd(output: "a\nb\0\0")
        try label.expectEnd()
        #expect(
            label.outputText.hasSuffix("\0Received data: a\nb\0Received data: \0")
                || label.outputText.hasPrefix("NO DATA\n"))
    }

    @Test func countEndsItAtOnce() throws {
        try stage.broker()
        let receiver = try stage.receiver("-c", "2", "-t", "60")
        try stage.send("-l", input: .bytes(Array("1\n2\n3\n".utf8)))
        try receiver.expectEnd(output: "NO DATA\nReceived data: 1\nReceived data: 2\n", within: 5)
    }

    @Test func timeoutEndsItWithAStatusThatTells() throws {
        try stage.broker()
        let started = MonotonicClock.now()
        let counting = try stage.receiver("-c", "2", "-t", "2")
        let other = try stage.receiver("--timeout=2")
        try stage.send("a")
        try counting.expectEnd(124, output: "NO DATA\nReceived data: a\n")
        try other.expectEnd(0, output: "NO DATA\nReceived data: a\n")
        let took = MonotonicClock.now() - started
        #expect(took > 2_000_000_000)
    }

    @Test func signalsEndItWithEverythingPrinted() throws {
        try stage.broker()
        for (signal, status) in [(Signal.terminate, 143), (Signal.interrupt, 130)] as [(Signal, Int32)] {
            let receiver = try stage.receiver()
            try stage.send("x")
            try receiver.expectLine("Received data: x")
            try receiver.send(signal)
            try receiver.expectEnd(status, output: "NO DATA\nReceived data: x\n", within: 5)
        }
    }

    @Test func gapsAreTold() throws {
        let fake = try stage.fakeBroker()
        for format in ["label", "json"] {
            let receiver = try stage.start("receive-data", "-f", format, "-c", "2")
            let peer = try fake.accept()
            try peer.acceptObserver()
            try peer.notify(1, #"{"data":"before"}"#)
            try peer.send(#"{"type":"gap","count":4711,"first":2,"last":4712}"#)
            try peer.notify(4713, #"{"data":"after"}"#)
            try receiver.expectEnd()
            #expect(receiver.errorLines.count == 1)
            #expect(receiver.errorText.hasPrefix("receive-data: ") && receiver.errorText.contains("4711"))
            let lines = receiver.outputText.split(separator: "\n")
            if format == "label" {
                #expect(lines == ["NO DATA", "Received data: before", "Received data: after"])
            } else {
                let types = try lines.map { try JSONValue(parsing: $0.utf8)["type"]?.text }
                #expect(types == ["notification", "gap", "notification"])
            }
        }
    }

    @Test func observingIsToldWhenItIsTrue() throws {
        let fake = try stage.fakeBroker()
        let ready = try CollectingPipe(on: stage)
        let receiver = try stage.start(
            "receive-data", bytes: ["--ready-fd", "9"].map { Array($0.utf8) },
            passing: [(ready.writingNumber, 9)])
        ready.closeWriting()
        let reader = ready.stream
        let peer = try fake.accept()
        var observer = try peer.frame()
        while observer["type"] != .string("addObserver") {
            try peer.answer(observer)
            observer = try peer.frame()
        }
        try stage.expect("nothing is said before the broker's ok", during: 0.3) {
            reader.bytes.isEmpty && !reader.hasEnded && receiver.outputText.isEmpty
        }
        try peer.answer(observer)
        try receiver.expectLine("NO DATA")
        _ = try stage.wait(for: "the end of the ready descriptor") { reader.hasEnded ? true : nil }
        #expect(reader.bytes == Array("\n".utf8))
        #expect(try receiver.isRunning)
    }

    @Test func aReadyDescriptorThatCannotBeWrittenToIsNoSilence() throws {
        try stage.broker()
        let pipe = try Pipe()
        let receiver = try stage.start(
            "receive-data", bytes: ["--ready-fd", "9"].map { Array($0.utf8) },
            passing: [(pipe.reading.number, 9)])
        try receiver.errorLine("--ready-fd 9 can't be written to")
        try receiver.expectLine("NO DATA")
    }

    @Test func whatIsInTheSamePacketAsTheAnswerIsShown() throws {
        let fake = try stage.fakeBroker()
        let receiver = try stage.start("receive-data", "-c", "1")
        let peer = try fake.accept()
        var frame = try peer.frame()
        while frame["type"] != .string("addObserver") {
            try peer.answer(frame)
            frame = try peer.frame()
        }
        let id = frame["id"]?.int ?? -1
        try peer.send(
            raw: FrameClient.frame(#"{"type":"novelty","id":99}"#)
                + FrameClient.frame(
                    "\n{ \"new\":{\"a\":[1]} ,\t\"id\" : \(id), \"t\\u0079pe\":\"o\\u006b\" }\r\n")
                + FrameClient.frame(
                    #"{"userInfo":{"d\u0061ta":"x"},"later":null,"name":"DataNotification","sender":{"gid":0,"uid":0,"pid":7,"#
                        + #""connection":1},"time":1,"seq":9,"type":"notification"}"#))
        try receiver.expectEnd(output: "NO DATA\nReceived data: x\n")
    }

    @Test func overflowIsAskedFor() throws {
        let fake = try stage.fakeBroker()
        for (arguments, wanted) in [
            ([], "wait"), (["--all"], "drop"), (["--overflow", "coalesce"], "coalesce"),
            (["-a", "--overflow=wait"], "wait"),
            (["-n", "N", "-m", "*", "--overflow=drop"], "drop"),
        ] {
            let receiver = try stage.start("receive-data", bytes: arguments.map { Array($0.utf8) })
            let peer = try fake.accept()
            #expect(try peer.acceptObserver()["overflow"]?.text ?? "wait" == wanted, "\(arguments)")
            try receiver.send(.terminate)
            try receiver.expectEnd(143)
        }
    }
}
