import CommandLineSupport
import Endpoint
import UnixIO

/// Runs the workloads, one after the other, at one broker.
struct BenchCommand {
    let options: BenchOptions

    func run() throws(Failure) -> ExitStatus {
        let signals = try Failure.of { () throws(SystemError) in
            try SignalDescriptor([.interrupt, .terminate])
        }
        try Failure.of { () throws(SystemError) in try CurrentProcess.raiseDescriptorLimit() }
        let broker = try BrokerUnderTest(options)
        defer { broker.end() }
        if !options.isQuiet {
            BenchOptions.tool.say(
                broker.isOwn
                    ? "no broker is running: measuring one of its own"
                    : "measuring the broker at \(broker.place.path)"
            )
        }
        var results: [Measurement] = []
        for plan in options.plans {
            let result = try measure(plan, broker, signals)
            results.append(result)
            if options.asJSON { try print(result.json + "\n") }
        }
        if !options.asJSON { try print(ResultTable(results).text) }
        for result in results {
            if let fault = result.faults.description {
                throw Failure(.protocolViolation, fault).naming(result.plan.workload)
            }
        }
        if !options.isQuiet { hint(results) }
        return .success
    }

    private func measure(
        _ plan: Plan, _ broker: BrokerUnderTest, _ signals: borrowing SignalDescriptor
    ) throws(Failure) -> Measurement {
        let progress = ProgressLine(plan, isShown: !options.isQuiet)
        defer { progress.clear() }
        let supervisor = Supervisor(
            broker: broker.process, alarm: signals.number, timeout: options.timeout, progress: progress)
        do throws(Failure) {
            return try Measurement(of: plan, at: broker.place, by: supervisor)
        } catch {
            if let signal = signals.next() { throw Failure(endedBy: signal) }
            throw error.naming(plan.workload)
        }
    }

    /// Figures say little about a broker that was waiting for its clients.
    private func hint(_ results: [Measurement]) {
        for result in results where result.plan.workload != .latency && result.plan.workload != .connect {
            guard let broker = result.brokerBusy, broker < 0.8 else { continue }
            let busiest = max(result.sendersBusy, result.receiversBusy / Double(result.plan.receiverThreads))
            guard busiest > 0.9 else { continue }
            let who =
                result.sendersBusy == busiest
                ? "the senders were busier than the broker"
                : "the receivers were busier than the broker (see --threads)"
            BenchOptions.tool.say("\(result.plan.workload.rawValue): \(who)")
        }
    }

    private func print(_ text: String) throws(Failure) {
        do throws(StandardOutput.Trouble) {
            try StandardOutput.write(Array(text.utf8))
        } catch {
            if let failure = error.failure { throw failure }
        }
    }
}
