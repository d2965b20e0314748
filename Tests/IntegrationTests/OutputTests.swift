import TestSupport
import Testing
import UnixIO

/// Closed pipes, full disks, closed standard descriptors, readers that are slow.
@Suite(.ownThreads) struct OutputTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    @Test func aFullDiskIsAFailure() throws {
        try stage.broker()
        for command in [
            "send-data --help", "receive-data --version", "notification-broker --help", "receive-data",
        ] {
            let shell = try stage.shell("exec \(command) > /dev/full")
            #expect(try shell.status() == 74, "\(command)")
            #expect(shell.errorLines.count == 1, "\(shell.errorText)")
        }
        for format in ["data", "json"] {
            let receiver = try stage.shell("exec receive-data -f \(format) > /dev/full")
            try stage.awaitObservers()
            try stage.send("x")
            #expect(try receiver.status() == 74)
            #expect(receiver.errorLines.count == 1)
        }
        let receiver = try stage.receiver("-c", "1")
        let sender = try stage.shell("exec send-data --print-receipt x > /dev/full")
        #expect(try sender.status() == 74)
        try receiver.expectEnd(output: "NO DATA\nReceived data: x\n")
    }

    @Test func aReaderThatLeavesIsNoFailure() throws {
        try stage.broker()
        let head = try stage.shell("{ receive-data; echo $? > \"$HOME/status\"; } | head -n 1")
        try head.expectLine("NO DATA")
        let status = try stage.wait(for: "the receiver's end, though nothing comes", within: 8) {
            (try? stage.contents("status")).flatMap { $0.isEmpty ? nil : $0 }
        }
        #expect(status == "0\n")
        _ = try head.status()
        #expect(head.errorText == "")
    }

    @Test func closedStandardInput() throws {
        try stage.broker()
        let receiver = try stage.receiver("-c", "1")
        try stage.shell("exec send-data 'with data' <&-").expectEnd()
        try receiver.expectEnd(output: "NO DATA\nReceived data: with data\n")
        let without = try stage.shell("exec send-data -q <&-")
        #expect(try [0, 64, 65, 66, 71].contains(without.status(within: 8)))
    }

    @Test func closedStandardOutputAndError() throws {
        let fake = try stage.fakeBroker()
        for closed in ["2>&-", ">&-", "<&- >&- 2>&-"] {
            let sender = try stage.shell("exec send-data x \(closed)")
            let peer = try fake.accept()
            try peer.acceptPost(seq: 1, receivers: 0)
            try sender.expectEnd()
            // Its hint that nobody receives must not be in the connection.
            try peer.expectEnd()
        }
        let receiver = try stage.shell("exec receive-data >&-")
        #expect(try [0, 74].contains(receiver.status(within: 8)))
        // It may have seen that before it connected.
        if let peer = try? fake.accept(within: 0.1) {
            while let frame = try? peer.frame() {
                #expect(["hello", "addObserver"].contains(frame["type"]?.text), "\(frame)")
            }
            try peer.expectEnd()
        }
        let silent = try stage.shell("exec receive-data -c 1 <&- 2>&-")
        let other = try fake.accept()
        try other.acceptObserver()
        try other.notify(1, #"{"data":"x"}"#)
        try silent.expectEnd(output: "NO DATA\nReceived data: x\n")
    }

    @Test func aBlockedReaderLosesNothingAndSignalsStillCount() throws {
        try stage.broker()
        let pipe = try Pipe()
        let lines = (0..<3000).map { "\($0) " + String(repeating: "x", count: 95) + "\n" }
        let receiver = try stage.start(
            "receive-data", "-f", "data", "-c", "3000", output: .descriptor(pipe.writing.number))
        let stuck = try stage.start("receive-data", output: .descriptor(pipe.writing.number))
        try stage.awaitObservers("DataNotification", 2)
        try stage.send("-l", input: .bytes(Array(lines.joined().utf8)))
        try stage.expect("it waits for its reader", during: 0.2) { try receiver.isRunning }
        try stuck.send(.terminate)
        try stuck.expectEnd(143, within: 5)
        try receiver.send(.stop)
        try receiver.send(.resume)
        let alone = try Stage()
        try alone.broker()
        let whole = try Pipe()
        let slow = try alone.start(
            "receive-data", "-f", "data", "-c", "3000", output: .descriptor(whole.writing.number))
        try alone.awaitObservers()
        try alone.send("-l", input: .bytes(Array(lines.joined().utf8)))
        try alone.expect("it waits for its reader", during: 0.2) { try slow.isRunning }
        let reader = alone.read(whole.reading.number)
        try slow.expectEnd()
        _ = try alone.wait(for: "all lines") { reader.bytes.count >= lines.joined().utf8.count ? true : nil }
        #expect(reader.bytes == Array(lines.joined().utf8))
    }

    @Test func aNonblockingPipeIsWaitedFor() throws {
        try stage.broker()
        let pipe = try Pipe()
        try setNonblocking(pipe.writing.number)
        let lines = (0..<3000).map { "\($0) " + String(repeating: "x", count: 95) + "\n" }.joined()
        let receiver = try stage.start(
            "receive-data", "-f", "data", "-c", "3000", output: .descriptor(pipe.writing.number))
        try stage.awaitObservers()
        try stage.send("-l", input: .bytes(Array(lines.utf8)))
        try stage.expect("it waits for its reader", during: 0.2) { try receiver.isRunning }
        let reader = stage.read(pipe.reading.number)
        try receiver.expectEnd()
        _ = try stage.wait(for: "all lines") { reader.bytes.count >= lines.utf8.count ? true : nil }
        #expect(reader.bytes == Array(lines.utf8))
    }

    @Test func signalsEndASenderThatWaits() throws {
        try stage.broker()
        for (signal, status) in [(Signal.terminate, 143), (.interrupt, 130)] as [(Signal, Int32)] {
            let waiting = try stage.start("send-data", "-w", "1", "-t", "0", "x")
            _ = try stage.wait(for: "its connection") {
                try stage.status()["clients"]?.values.contains { $0["pid"]?.int == Int(waiting.pid) } == true
                    ? true : nil
            }
            try waiting.send(signal)
            try waiting.expectEnd(status, within: 5)
        }
        let reading = try stage.start("send-data", "-ql", input: .open)
        try reading.write("one\n")
        _ = try stage.wait(for: "its post") { try stage.status()["posted"]?.int == 1 ? true : nil }
        try reading.send(.terminate)
        try reading.expectEnd(143, within: 5)
    }
}
