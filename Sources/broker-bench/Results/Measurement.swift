import CommandLineSupport
import Endpoint
import UnixIO
import WireProtocol

/// What came out of one plan.
struct Measurement {
    let plan: Plan
    let seconds: Double
    let posted: Int
    let delivered: Int
    let faults: Faults
    /// Shares of the time in which each was running; more than 1 for several threads.
    let sendersBusy: Double
    let receiversBusy: Double
    let brokerBusy: Double?
    /// Sorted, in nanoseconds; empty for all workloads but one.
    let roundTrips: [UInt64]

    init(of plan: Plan, at place: SocketPath, by supervisor: Supervisor) throws(Failure) {
        let limit = supervisor.limit
        switch plan.workload {
        case .throughput, .fanOut, .fanIn, .observers:
            var workers = Self.receivers(plan, at: place, limit)
            workers.append(SendingWorker.worker(plan, at: place, until: limit))
            if plan.figures.globs > 0 || plan.figures.changes > 0 {
                workers.append(BystanderWorker.worker(plan, at: place, until: limit))
            }
            self.init(plan, try supervisor.run(workers))
        case .latency:
            self.init(plan, try supervisor.run([LatencyWorker.worker(plan, at: place, until: limit)]))
        case .connect:
            self.init(plan, try supervisor.run([ConnectingWorker.worker(plan, at: place, until: limit)]))
        case .retained:
            let store = try RetainedState(plan, at: place, until: limit)
            let outcome: Result<Supervisor.Outcome, Failure>
            do throws(Failure) {
                outcome = .success(try supervisor.run(Self.receivers(plan, at: place, limit)))
            } catch {
                outcome = .failure(error)
            }
            try store.clear(until: WaitLimit(deadline: MonotonicClock.now() + 5_000_000_000))
            self.init(plan, try outcome.get())
        }
    }

    private static func receivers(_ plan: Plan, at place: SocketPath, _ limit: WaitLimit) -> [Worker] {
        (0..<plan.receiverThreads).map { ReceivingWorker.worker(plan, $0, at: place, until: limit) }
    }

    private init(_ plan: Plan, _ outcome: Supervisor.Outcome) {
        self.plan = plan
        seconds = outcome.seconds
        let reports = outcome.reports
        posted = plan.retains ? plan.countPerSender : reports.reduce(0) { $0 + $1.posted }
        delivered = reports.reduce(0) { $0 + $1.delivered }
        var faults = reports.reduce(into: Faults()) { $0.add($1.faults) }
        let orders = reports.flatMap(\.orders)
        if faults.isEmpty, let differing = orders.firstIndex(where: { $0 != orders[0] }) {
            faults.disordered += 1
            faults.note("two receivers saw different orders (\(differing) of \(orders.count))")
        }
        self.faults = faults
        func busy(_ role: WorkerReport.Role) -> Double {
            let cpu = reports.filter { $0.role == role }.reduce(0) { $0 + $1.cpu }
            return Double(cpu) * 1e-9 / outcome.seconds
        }
        sendersBusy = busy(.senders)
        receiversBusy = busy(.receivers)
        brokerBusy = outcome.brokerSeconds.map { $0 / outcome.seconds }
        roundTrips = reports.flatMap(\.samples).sorted()
    }

    /// What the broker was for: deliveries, or connections.
    var done: Int { plan.workload == .connect ? posted : delivered }

    /// Processor time of the broker for each of them.
    var brokerNanoseconds: Double? {
        guard let brokerBusy, done > 0 else { return nil }
        return brokerBusy * seconds * 1e9 / Double(done)
    }

    static let percentiles: [(name: String, share: Double)] = [
        ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1),
    ]

    /// The round trip that so large a share does not exceed, in microseconds.
    func roundTrip(_ share: Double) -> Double {
        guard !roundTrips.isEmpty else { return 0 }
        let index = Int((share * Double(roundTrips.count)).rounded(.up)) - 1
        return Double(roundTrips[min(max(index, 0), roundTrips.count - 1)]) / 1_000
    }
}
