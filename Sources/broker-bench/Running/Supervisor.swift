import CommandLineSupport
import UnixIO

/// Runs the threads of one measurement, and ends it where it fails, is interrupted, or stands still.
struct Supervisor {
    /// The broker's pid.
    let broker: Int32
    /// Becomes readable when a signal has come.
    let alarm: Int32
    let timeout: Duration
    let progress: ProgressLine

    /// What the threads reported, and what the broker took meanwhile.
    struct Outcome {
        var reports: [WorkerReport]
        var seconds: Double
        /// nil where the broker's process can't be seen.
        var brokerSeconds: Double?
    }

    private static let tick: UInt64 = 100_000_000

    var limit: WaitLimit { WaitLimit(deadline: deadline(from: MonotonicClock.now()), alarm: alarm) }

    private func deadline(from now: UInt64) -> UInt64? {
        timeout == .zero ? nil : now + timeout.nanoseconds
    }

    /// The threads are not waited for where it throws: one of them may be blocked for good, and the process ends anyway.
    func run(_ workers: [Worker]) throws(Failure) -> Outcome {
        let board = try Failure.of { () throws(SystemError) in try Board() }
        for worker in workers {
            try Failure.of { () throws(SystemError) in try WorkerThread.start { board.perform(worker) } }
        }
        return try supervise(board, count: workers.count)
    }

    private func supervise(_ board: Board, count: Int) throws(Failure) -> Outcome {
        try watch(board, "the preparations") { board.arrivals == count }
        let cpu = CPUClock.process(broker)
        let start = MonotonicClock.now()
        board.openStart()
        try watch(board, "the deliveries") { board.reports.count == count }
        let spent = CPUClock.process(broker).flatMap { now in cpu.map { Double(now - $0) * 1e-9 } }
        board.openEnd()
        let reports = board.reports
        let began = reports.map(\.began).min() ?? start
        let ended = reports.map(\.ended).max() ?? start
        let seconds = Double(max(ended, began + 1) - (began == .max ? start : began)) * 1e-9
        return Outcome(reports: reports, seconds: seconds, brokerSeconds: spent)
    }

    private func watch(_ board: Board, _ what: String, until isDone: () -> Bool) throws(Failure) {
        var seen = 0
        var patience = deadline(from: MonotonicClock.now())
        var entries = [PollEntry(alarm, .readable), PollEntry(board.bell.number, .readable)]
        while true {
            if let failure = board.failure {
                board.callOff()
                throw failure
            }
            if isDone() { return }
            let now = MonotonicClock.now()
            try Failure.of { () throws(SystemError) in
                try PollEntry.wait(for: &entries, until: now + Self.tick)
            }
            if !entries[0].readiness.isEmpty {
                board.callOff()
                throw .calledOff
            }
            if !entries[1].readiness.isEmpty { board.bell.clear() }
            let (posted, delivered) = board.progress
            progress.show(posted: posted, delivered: delivered)
            let moved = posted + delivered + board.arrivals
            if moved != seen {
                seen = moved
                patience = deadline(from: now)
            } else if let patience, now > patience {
                board.callOff()
                throw Failure(
                    .gaveUp,
                    "\(what) stand still: \(posted) posted, \(delivered) delivered; --timeout gives more time"
                )
            }
        }
    }
}
