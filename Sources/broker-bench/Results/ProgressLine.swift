import CommandLineSupport
import UnixIO

/// How far a measurement is, on one line of a terminal that changes; nothing elsewhere.
struct ProgressLine {
    private let plan: Plan
    private let isShown: Bool

    init(_ plan: Plan, isShown: Bool) {
        self.plan = plan
        self.isShown = isShown && Streams.isTerminal(Streams.error)
    }

    func show(posted: Int, delivered: Int) {
        guard isShown else { return }
        let done = max(
            posted, plan.workload == .latency || plan.retains ? delivered / max(1, plan.figures.receivers) : 0
        )
        let percent = min(100, done * 100 / max(1, plan.count))
        write("\(plan.workload.rawValue): \(percent) %, \(grouped(Double(delivered))) delivered")
    }

    /// Leaves an empty line.
    func clear() {
        if isShown { write("") }
    }

    private func write(_ text: String) {
        StandardError.write(Array("\r\(text)\u{1B}[K".utf8))
    }
}
