import CommandLineSupport
import Endpoint
import UnixIO
import WireProtocol

/// All sending connections, on one thread: each gets what the kernel takes of its next posts, and is at its end when the
/// broker has answered a ping behind them.
struct SendingWorker {
    private struct Sender {
        let link: Link
        let batch: PostBatch
        var isThrough = false
        var answered = 0
    }

    private let plan: Plan
    private let board: Board
    private let memory = ByteStorage(capacity: 256 << 10)
    private var senders: [Sender] = []
    private var open = 0
    private var report = WorkerReport(.senders)

    private static let stopToken = UInt64.max

    static func worker(_ plan: Plan, at place: SocketPath, until limit: WaitLimit) -> Worker {
        { board throws(Failure) in
            var worker = try SendingWorker(plan, at: place, board, until: limit)
            try board.arrive()
            try board.report(try worker.run())
        }
    }

    private init(_ plan: Plan, at place: SocketPath, _ board: Board, until limit: WaitLimit) throws(Failure) {
        self.plan = plan
        self.board = board
        for index in 0..<plan.figures.senders {
            let link = try Link(place, until: limit)
            try link.exchange(Link.farewellPing, answers: 1, through: memory, until: limit)
            senders.append(
                Sender(link: link, batch: PostBatch(plan, sender: index, total: plan.countPerSender)))
        }
    }

    private mutating func run() throws(Failure) -> WorkerReport {
        let cpu = CPUClock.thisThread()
        let poller = try Failure.of { () throws(SystemError) in try Poller() }
        for (index, sender) in senders.enumerated() {
            try Failure.of { () throws(SystemError) in
                try poller.add(sender.link.number, [.readable, .writable], token: UInt64(index))
            }
        }
        try Failure.of { () throws(SystemError) in
            try poller.add(board.stopNumber, .readable, token: Self.stopToken)
        }
        open = senders.count
        report.began = MonotonicClock.now()
        while open > 0 {
            let count = try Failure.of { () throws(SystemError) in try poller.wait(until: nil) }
            for event in 0..<count {
                try serve(poller.event(at: event), poller)
            }
        }
        board.tellSendersDone()
        report.cpu = CPUClock.thisThread() - cpu
        return report
    }

    private mutating func serve(
        _ event: (token: UInt64, readiness: Readiness), _ poller: borrowing Poller
    ) throws(Failure) {
        guard event.token != Self.stopToken else { throw .calledOff }
        let index = Int(event.token)
        if !event.readiness.subtracting(.writable).isEmpty, try takeAnswers(index) {
            open -= 1
            try Failure.of { () throws(SystemError) in try poller.remove(senders[index].link.number) }
            return
        }
        if event.readiness.contains(.writable), !senders[index].isThrough, try write(index) {
            try Failure.of { () throws(SystemError) in
                try poller.modify(senders[index].link.number, .readable, token: event.token)
            }
        }
    }

    /// True when all was written.
    private mutating func write(_ index: Int) throws(Failure) -> Bool {
        let sender = senders[index]
        let rest = sender.batch.rest
        if !rest.isEmpty {
            let done = sender.batch.advance(by: try sender.link.write(rest))
            if done > 0 {
                report.posted += done
                board.notePosted(done)
            }
            return false
        }
        let count = try sender.link.write(Link.farewellPing[...])
        // So short a frame is taken whole, or not at all while the broker reads nothing.
        senders[index].isThrough = count > 0
        return count > 0
    }

    /// True when the last answer has come.
    private mutating func takeAnswers(_ index: Int) throws(Failure) -> Bool {
        let link = senders[index].link
        guard try link.read(through: memory) else { return false }
        let receivers = plan.share(of: 0).step == 1 ? plan.figures.receivers : 1
        while let text = try link.nextFrame() {
            let receipt: Receipt
            if let found = Receipt(text) {
                receipt = found
            } else if case .ok(let answer) = try link.message(text) {
                receipt = Receipt(id: answer.id, receivers: answer.receivers ?? 0)
            } else {
                continue
            }
            let answered = senders[index].answered
            if receipt.id == Link.farewell {
                let isWhole = answered == (plan.asksForAnswers ? plan.countPerSender : 0)
                try expect(isWhole, index, "got \(answered) answers only")
                return true
            }
            try expect(
                receipt.id == PostBatch.idBase + UInt64(answered), index,
                "got the answer \(receipt.id) out of turn")
            try expect(
                receipt.receivers == UInt64(receivers), index,
                "was told of \(receipt.receivers) receivers where \(receivers) observe")
            senders[index].answered += 1
        }
        return false
    }

    private func expect(_ holds: Bool, _ sender: Int, _ words: @autoclosure () -> String) throws(Failure) {
        if !holds { throw Failure(.protocolViolation, "sender \(sender) \(words())") }
    }
}
