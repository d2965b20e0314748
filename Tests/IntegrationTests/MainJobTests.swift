import TestSupport
import Testing
import UnixIO

/// A notification crosses processes: three of them, for real.
@Suite(.ownThreads) struct MainJobTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    @Test func oneNotificationArrives() throws {
        try stage.broker()
        let receiver = try stage.receiver("--count", "1")
        let sender = try stage.send("hello")
        try receiver.expectEnd(output: "NO DATA\nReceived data: hello\n")
        #expect(sender.outputText == "" && sender.errorText == "")
        #expect(receiver.errorText == "")
    }

    @Test func everyReceiverThatObservesItGetsIt() throws {
        try stage.broker()
        let byName = try stage.receiver("-n", "job.done", "-c", "1")
        let byOther = try stage.receiver("-n", "job.started")
        let byGlob = try stage.receiver("-m", "job.*", "-c", "1")
        let byObject = try stage.receiver("-n", "job.done", "-o", "7", "-c", "1")
        let byOtherObject = try stage.receiver("-n", "job.done", "-o", "8")
        let all = try stage.receiver("-a", "-c", "1")
        let two = try stage.receiver("-n", "nothing", "-n", "job.done", "-m", "job.?one", "-c", "2")
        try stage.send("-n", "job.done", "-o", "7", "x")
        for receiver in [byName, byGlob, byObject, all] {
            try receiver.expectEnd(output: "NO DATA\nReceived data: x\n")
        }
        for receiver in [byOther, byOtherObject] {
            try receiver.send(.terminate)
            try receiver.expectEnd(143, output: "NO DATA\n")
        }
        try stage.send("-n", "nothing", "once for both")
        try two.expectEnd(output: "NO DATA\nReceived data: x\nReceived data: once for both\n")
    }

    @Test func aHundredThousandFromFourToThreeInOneOrder() throws {
        let each = 25_000
        try stage.broker()
        let receivers = try (0..<3).map { index in
            try stage.start(
                "receive-data", "-f", "data", "-c", "\(4 * each)", output: .file(stage.path("out\(index)")))
        }
        try stage.awaitObservers("DataNotification", 3)
        let senders = try (0..<4).map { sender in
            let lines = (0..<each).map { "\(sender) \($0)\n" }.joined()
            return try stage.start("send-data", "--lines", input: .bytes(Array(lines.utf8)))
        }
        for sender in senders { try sender.expectEnd(within: 100) }
        for receiver in receivers { try receiver.expectEnd(within: 100) }
        let first = try stage.contents("out0")
        #expect(try stage.contents("out1") == first, "the same order at the second receiver")
        #expect(try stage.contents("out2") == first, "the same order at the third receiver")
        var next = [0, 0, 0, 0]
        for line in first.utf8.split(separator: UInt8(ascii: "\n")) {
            let sender = Int(line[line.startIndex] - UInt8(ascii: "0"))
            let wanted = "\(sender) \(next[sender])"
            guard line.elementsEqual(wanted.utf8) else {
                Issue.record("'\(Substring(line))' instead of '\(wanted)'")
                return
            }
            next[sender] += 1
        }
        #expect(next == [each, each, each, each])
    }

    @Test func aThousandClientsPostAndCloseAtOnce() throws {
        try stage.broker()
        let receiver = try stage.receiver("-f", "label", "-c", "1000")
        for number in 0..<1000 {
            try stage.connectWriteAndClose(
                FrameClient.frame(
                    #"{"type":"post","name":"DataNotification","userInfo":{"data":"\#(number)"}}"#))
        }
        let lines = (0..<1000).map { "Received data: \($0)\n" }.joined()
        try receiver.expectEnd(output: "NO DATA\n" + lines)
    }

    @Test func sendersOneAfterTheOtherArriveInThatOrder() throws {
        try stage.broker()
        let receiver = try stage.receiver("-c", "100")
        for number in 0..<100 { try stage.send("\(number)") }
        let lines = (0..<100).map { "Received data: \($0)\n" }.joined()
        try receiver.expectEnd(output: "NO DATA\n" + lines)
    }

    @Test func thirtySendersAndTheirReceiverMayStartAtOnce() throws {
        try stage.broker()
        for round in 0..<3 {
            let senders = try (0..<15).map {
                try stage.start("send-data", "-w", "1", "-n", "\(round)", "\($0)")
            }
            let receiver = try stage.start("receive-data", "-n", "\(round)", "-f", "data", "-c", "30")
            let more = try (15..<30).map {
                try stage.start("send-data", "-w", "1", "-n", "\(round)", "\($0)")
            }
            for sender in senders + more { try sender.expectEnd() }
            try receiver.expectEnd()
            let numbers = receiver.outputText.split(separator: "\n").compactMap { Int($0) }.sorted()
            #expect(numbers == Array(0..<30))
        }
    }

    @Test func aReceiverThatIsStoppedAndContinuedMissesNothing() throws {
        try stage.broker()
        let receiver = try stage.receiver("-c", "500")
        try receiver.send(.stop)
        let lines = (0..<500).map { "\($0)\n" }
        try stage.send("-l", input: .bytes(Array(lines.joined().utf8)))
        try receiver.send(.resume)
        try receiver.expectEnd(output: "NO DATA\n" + lines.map { "Received data: " + $0 }.joined())
    }
}
