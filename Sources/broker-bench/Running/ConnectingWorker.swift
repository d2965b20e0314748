import CommandLineSupport
import Endpoint
import UnixIO
import WireProtocol

/// Opens connections, as many at once as there are senders, has each greeted, and closes them.
struct ConnectingWorker {
    static func worker(_ plan: Plan, at place: SocketPath, until limit: WaitLimit) -> Worker {
        { board throws(Failure) in
            try board.arrive()
            try board.report(try run(plan, at: place, board))
        }
    }

    private static func run(_ plan: Plan, at place: SocketPath, _ board: Board) throws(Failure)
        -> WorkerReport
    {
        var report = WorkerReport(.senders)
        let memory = ByteStorage(capacity: 16 << 10)
        let cpu = CPUClock.thisThread()
        var hello: [UInt8] = []
        RequestEncoder.hello(client: "broker-bench", id: 1, to: &hello)
        report.began = MonotonicClock.now()
        while report.posted < plan.count {
            let count = min(plan.figures.senders, plan.count - report.posted)
            var links: [Link] = []
            for _ in 0..<count {
                let link = try Link(place, until: WaitLimit(deadline: MonotonicClock.now() + 10_000_000_000))
                _ = try link.write(hello[...])
                links.append(link)
            }
            for link in links {
                try link.exchange([], answers: 1, through: memory, until: WaitLimit(alarm: board.stopNumber))
            }
            report.posted += count
            board.notePosted(count)
        }
        report.ended = MonotonicClock.now()
        report.cpu = CPUClock.thisThread() - cpu
        return report
    }
}
