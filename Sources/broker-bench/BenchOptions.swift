import CommandLineSupport
import Endpoint
import UnixIO
import WireProtocol

/// What a command line asks for.
struct BenchOptions {
    /// A path that the user named must be served; elsewhere a broker is started where there is none.
    let place: SocketPath
    let isPlaceNamed: Bool
    let plans: [Plan]
    let timeout: Duration
    let asJSON: Bool
    let isQuiet: Bool

    init(_ arguments: Arguments) throws(Failure) {
        place = try arguments.place()
        isPlaceNamed = place.origin == .given
        timeout = try arguments.seconds(.timeout) ?? .seconds(10)
        asJSON = arguments.has(.json)
        isQuiet = arguments.has(.quiet)
        let workloads = try Self.workloads(arguments)
        var plans: [Plan] = []
        for workload in workloads { plans.append(try Self.plan(for: workload, arguments)) }
        self.plans = plans
    }

    private static func workloads(_ arguments: Arguments) throws(Failure) -> [Workload] {
        var workloads: [Workload] = []
        for word in arguments.operands.all {
            let text = String(decoding: word, as: UTF8.self)
            guard let workload = Workload(rawValue: text) else {
                let words = Workload.allCases.map(\.rawValue)
                let advice =
                    nearestWord(to: text, in: words).map { "did you mean \($0)?" }
                    ?? "they are \(words.joined(separator: ", "))"
                throw Failure(.usage, "unknown workload \(Failure.quoted(word)); \(advice)")
            }
            workloads.append(workload)
        }
        return workloads.isEmpty ? Workload.allCases : workloads
    }

    private static func plan(for workload: Workload, _ arguments: Arguments) throws(Failure) -> Plan {
        var figures = workload.defaults
        figures.size = try arguments.byteCount(.size, in: Plan.leastSize...(1 << 29)) ?? figures.size
        if workload != .latency && workload != .retained {
            figures.senders = try arguments.count(.senders, in: 1...Plan.mostSenders) ?? figures.senders
        }
        if workload != .latency && workload != .connect {
            figures.receivers = try arguments.count(.receivers, in: 1...100_000) ?? figures.receivers
        }
        let isStream = ![.latency, .retained, .connect].contains(workload)
        if isStream {
            figures.names = try arguments.count(.names, in: 1...10_000_000) ?? figures.names
            figures.globs = try arguments.count(.globs, in: 0...10_000_000) ?? figures.globs
            figures.changes = try arguments.count(.changes, in: 0...100_000) ?? figures.changes
        }
        let count = try arguments.count(.count, in: 1...99_999_999) ?? workload.defaultCount(figures)
        var plan = Plan(
            workload: workload, figures: figures, count: count, subject: "bench.\(CurrentProcess.pid)")
        plan.retains = workload == .retained
        plan.usesFreshNames = isStream && arguments.has(.freshNames)
        plan.observesByGlob = plan.retains || plan.usesFreshNames || isStream && arguments.has(.match)
        plan.asksForAnswers = isStream && arguments.has(.answers)
        plan.receiverThreads = min(
            try arguments.count(.threads, in: 1...1_024) ?? 1, max(figures.receivers, 1))
        if case .rotating(let names) = plan.naming, !plan.observesByGlob, names < figures.receivers {
            throw Failure(
                .usage,
                "\(figures.receivers) receivers can't share \(names) names; --names takes at least as many")
        }
        return plan
    }

    static let tool = Tool(
        name: "broker-bench", version: Release.version, usage: "[OPTIONS] [WORKLOAD...]",
        summary: """
            Measures a broker: how fast it relays, and what that takes of the processor. Every delivery is verified: each \
            once, in order, the same order everywhere. Where no broker is running one is started for the time being. \
            Workloads (default: all): \(Workload.allCases.map { "\($0.rawValue): \($0.meaning)" }.joined(separator: "; ")).
            """,
        options: {
            $0(.count) || $0(.size) || $0(.senders) || $0(.receivers) || $0(.names) || $0(.globs)
                || $0(.changes) || $0(.match) || $0(.freshNames) || $0(.answers) || $0(.threads)
                || $0(.timeout) || $0(.json) || $0(.quiet) || $0(.socket)
        },
        exitStatuses: {
            [
                .success, .usage, .dataRefused, .noBroker, .systemError, .outputFailed, .gaveUp,
                .protocolViolation, .notPermitted, .interrupted, .terminated,
            ]
        })
}

extension Option {
    static let count = Option(
        "count", short: "c", value: "N", help: "notifications posted (or connections made) in each workload")
    static let size = Option(
        "size", short: "s", value: "N", help: "bytes of userInfo (default: 64); N takes K, M, G")
    static let senders = Option("senders", value: "N", help: "sending connections")
    static let receivers = Option("receivers", value: "N", help: "receiving connections")
    static let names = Option(
        "names", value: "N", help: "post under N names in turn, which the receivers share among them")
    static let globs = Option("globs", value: "N", help: "a bystander observes N globs that match nothing")
    static let changes = Option(
        "changes", value: "N", help: "a bystander adds or removes N observers a second")
    static let match = Option("match", short: "m", help: "the receivers observe by a glob, not by name")
    static let freshNames = Option("fresh-names", help: "post each time under a name never used before")
    static let answers = Option("answers", short: "a", help: "ask for the answer to each post, and read it")
    static let threads = Option(
        "threads", value: "N", help: "threads for the receivers (default: 1), where processors are idle")
    static let timeout = Option(
        "timeout", short: "t", value: "SECONDS", help: "give up when nothing moves for so long (default: 10)")
    static let json = Option("json", help: "one JSON object for each workload instead of a table")
}
