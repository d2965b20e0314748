import CommandLineSupport
import Endpoint
import UnixIO
import WireProtocol

/// One notification after the other, each posted when the one before was received. Its sockets block: nothing is between the
/// broker's write and the end of the read that waits for it.
struct LatencyWorker {
    private let plan: Plan
    private let sender: Link
    private let receiver: Link
    private let batch: PostBatch
    private var check: DeliveryCheck
    private var templates: [FrameTemplate?] = [nil]
    private let memory = ByteStorage(capacity: 64 << 10)

    /// Round trips that are not counted: caches are cold, and frequencies low.
    private static func warmUp(_ count: Int) -> Int { min(1_000, count / 10) }

    static func worker(_ plan: Plan, at place: SocketPath, until limit: WaitLimit) -> Worker {
        { board throws(Failure) in
            var worker = try LatencyWorker(plan, at: place, until: limit)
            try board.arrive()
            try board.report(try worker.run(board))
        }
    }

    private init(_ plan: Plan, at place: SocketPath, until limit: WaitLimit) throws(Failure) {
        var plan = plan
        plan.count += Self.warmUp(plan.count)
        self.plan = plan
        sender = try Link(place, until: limit)
        receiver = try Link(place, until: limit)
        let (requests, count) = plan.observing(receiver: 0)
        try receiver.exchange(requests, answers: count, through: memory, until: limit)
        try sender.exchange(Link.farewellPing, answers: 1, through: memory, until: limit)
        // A batch of one post is written whole before it is answered, and a large one must be: its reader waits for all of it.
        batch = PostBatch(plan, sender: 0, total: plan.count, framesAtOnce: 1)
        check = DeliveryCheck(plan, receiver: 0)
        try sender.setBlocking(true)
        try receiver.setBlocking(true)
    }

    private mutating func run(_ board: Board) throws(Failure) -> WorkerReport {
        var report = WorkerReport(.senders)
        let warmUp = Self.warmUp(plan.count * 10 / 11)
        report.samples.reserveCapacity(plan.count)
        let cpu = CPUClock.thisThread()
        report.began = MonotonicClock.now()
        for number in 0..<plan.count {
            let start = MonotonicClock.now()
            while batch.advance(by: try sender.write(batch.rest)) == 0 {}
            while check.delivered == number { try receive() }
            if !check.faults.isEmpty { break }
            let end = MonotonicClock.now()
            if number >= warmUp { report.samples.append(end - start) }
            report.ended = end
            board.noteDelivered(1)
        }
        report.cpu = CPUClock.thisThread() - cpu
        check.finish()
        report.faults = check.faults
        report.posted = check.delivered
        report.delivered = check.delivered
        return report
    }

    private mutating func receive() throws(Failure) {
        guard try receiver.read(through: memory) else { return }
        while let text = try receiver.nextFrame() {
            if check.take(text, templates) { continue }
            guard case .notification(let notification) = try receiver.message(text) else { continue }
            if let (_, template) = check.examine(notification, text) { templates[0] = template }
        }
    }
}
