import CommandLineSupport
import Endpoint
import UnixIO
import WireProtocol

/// Who observes beside the measured ones: globs that match nothing that is posted, and observers that come and go.
struct BystanderWorker {
    private let plan: Plan
    private let board: Board
    private let limit: WaitLimit
    private let memory = ByteStorage(capacity: 64 << 10)
    /// Of the globs; they only have to be there.
    private var idle: [Link] = []
    private let changing: Link
    private var changes = 0

    private static let globsPerLink = 5_000
    /// Changes are made in bundles, a hundred times a second.
    private static let pause: UInt64 = 10_000_000

    static func worker(_ plan: Plan, at place: SocketPath, until limit: WaitLimit) -> Worker {
        { board throws(Failure) in
            var worker = try BystanderWorker(plan, at: place, board, until: limit)
            try board.arrive()
            try worker.run()
            try board.report(WorkerReport(.bystander))
        }
    }

    private init(_ plan: Plan, at place: SocketPath, _ board: Board, until limit: WaitLimit) throws(Failure) {
        self.plan = plan
        self.board = board
        self.limit = limit
        changing = try Link(place, until: limit)
        for start in stride(from: 0, to: plan.figures.globs, by: Self.globsPerLink) {
            let link = try Link(place, until: limit)
            let numbers = start..<min(start + Self.globsPerLink, plan.figures.globs)
            var requests: [UInt8] = []
            for number in numbers {
                RequestEncoder.addObserver(
                    "\(number)", names: .matching("\(plan.subject).glob\(number).*"), object: nil,
                    overflow: .drop,
                    id: UInt64(number), to: &requests)
            }
            try link.exchange(requests, answers: numbers.count, through: memory, until: limit)
            idle.append(link)
        }
    }

    /// Until all is posted.
    private mutating func run() throws(Failure) {
        var next = MonotonicClock.now()
        while true {
            next += Self.pause
            var entries = [
                PollEntry(board.sendersDoneNumber, .readable), PollEntry(board.stopNumber, .readable),
            ]
            try Failure.of { () throws(SystemError) in
                try PollEntry.wait(for: &entries, until: plan.figures.changes > 0 ? next : nil)
            }
            if entries.contains(where: { !$0.readiness.isEmpty }) { return }
            try change(max(1, plan.figures.changes / 100))
        }
    }

    private mutating func change(_ count: Int) throws(Failure) {
        var requests: [UInt8] = []
        for _ in 0..<count {
            if changes.isMultiple(of: 2) {
                RequestEncoder.addObserver(
                    "c", names: .name("\(plan.subject).change\(changes)"), object: nil, overflow: .drop,
                    id: 1,
                    to: &requests)
            } else {
                RequestEncoder.removeObserver("c", id: 1, to: &requests)
            }
            changes += 1
        }
        try changing.exchange(
            requests, answers: count, through: memory,
            until: WaitLimit(
                deadline: limit.deadline.map { _ in MonotonicClock.now() + 10_000_000_000 },
                alarm: board.stopNumber))
    }
}
