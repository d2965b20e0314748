import TestSupport
import Testing
import UnixIO

/// A receiver that is stopped while a sender goes on: what its overflow policy makes of it.
@Suite(.ownThreads) struct OverflowTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    private let lines = (0..<1500).map { "\($0) " + String(repeating: "x", count: 1000) + "\n" }

    /// A receiver of JSON that is stopped once it observes.
    private func stoppedReceiver(_ arguments: String...) throws -> ToolProcess {
        let receiver = try stage.start(
            "receive-data", bytes: (["-f", "json", "--no-reconnect"] + arguments).map { Array($0.utf8) })
        try stage.awaitObservers()
        try receiver.send(.stop)
        return receiver
    }

    /// What a receiver showed: the numbers, and how many its gaps told.
    private struct Shown {
        var numbers: [Int] = []
        var missed = 0
        var gaps = 0

        var count: Int { numbers.count + missed }

        mutating func takeAll(of receiver: ToolProcess) throws {
            while let line = receiver.output.take(upTo: UInt8(ascii: "\n")) {
                let frame = try JSONValue(parsing: line)
                if frame["type"] == .string("gap") {
                    gaps += 1
                    missed += frame["count"]?.int ?? 0
                } else if let text = frame["userInfo"]?["data"]?.text {
                    numbers.append(text.split(separator: " ").first.flatMap { Int($0) } ?? -1)
                }
            }
        }
    }

    private func shown(_ receiver: ToolProcess, untilCount count: Int = 0) throws -> Shown {
        var shown = Shown()
        return try stage.wait(for: "\(count) in all, not \(shown.count)") {
            try shown.takeAll(of: receiver)
            return shown.count >= count ? shown : nil
        }
    }

    @Test func dropLosesTheNewestAndTellsExactlyHowMany() throws {
        try stage.broker("--queue-bytes", "64K")
        let receiver = try stoppedReceiver("--overflow", "drop")
        try stage.send("-ql", input: .bytes(Array(lines.joined().utf8)))
        try receiver.send(.resume)
        try stage.send("-q", "9999 end")
        let shown = try shown(receiver, untilCount: 1501)
        #expect(shown.count == 1501)
        #expect(shown.missed > 0 && shown.gaps > 0)
        let live = shown.numbers.filter { $0 != 9999 }
        #expect(live == Array(0..<live.count), "the oldest are kept, in order")
        #expect(receiver.errorText.contains("\(shown.missed)"), "\(receiver.errorText)")
    }

    @Test func coalesceKeepsTheNewest() throws {
        try stage.broker("--queue-bytes", "64K")
        let receiver = try stoppedReceiver("--overflow", "coalesce")
        try stage.send("-ql", input: .bytes(Array(lines.joined().utf8)))
        try receiver.send(.resume)
        let shown = try shown(receiver, untilCount: 1500)
        #expect(shown.count == 1500)
        #expect(shown.missed > 0)
        #expect(shown.numbers.last == 1499)
        #expect(shown.numbers == shown.numbers.sorted())
    }

    @Test func waitSlowsTheSenderAndCutsWhoTakesNothing() throws {
        try stage.broker("--queue-bytes", "64K", "--patience", "1")
        let stopped = try stoppedReceiver("--overflow", "wait")
        let other = try stage.start("receive-data", "-f", "data", "-c", "1500")
        try stage.awaitObservers("DataNotification", 2)
        let sender = try stage.start(
            "send-data", "-ql", "-t", "20", input: .bytes(Array(lines.joined().utf8)))
        try stage.expect("the sender is paused", during: 0.5) { try sender.isRunning }
        try sender.expectEnd()
        try other.expectEnd(output: lines.joined())
        try stopped.send(.resume)
        #expect(try stopped.status() == 69)
        let shown = try self.shown(stopped)
        #expect(shown.missed == 0)
        #expect(shown.numbers == Array(0..<shown.numbers.count), "in order up to where it was cut")
        #expect(!shown.numbers.isEmpty && shown.numbers.count < 1500)
    }

    @Test func whoTakesInTimeLosesNothing() throws {
        try stage.broker("--queue-bytes", "64K")
        let receiver = try stoppedReceiver("-c", "1500")
        let sender = try stage.start(
            "send-data", "-ql", "-t", "20", input: .bytes(Array(lines.joined().utf8)))
        try stage.expect("the sender is paused", during: 0.5) { try sender.isRunning }
        try receiver.send(.resume)
        try sender.expectEnd()
        try receiver.expectEnd()
        let shown = try self.shown(receiver)
        #expect(shown.missed == 0 && shown.numbers == Array(0..<1500))
    }
}
