import TestSupport
import Testing
import UnixIO

/// The tool from outside, with a broker, without one, and with one that cheats.
@Suite(.ownThreads) struct ToolTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    private func bench(_ arguments: [String]) throws -> ToolProcess {
        try stage.start("broker-bench", bytes: arguments.map { Array($0.utf8) })
    }

    private func results(_ arguments: String...) throws -> [JSONValue] {
        let bench = try bench(["--json", "-q"] + arguments)
        try bench.expectEnd(0, within: 60)
        #expect(bench.errorText.isEmpty, "\(bench.errorText)")
        return try bench.output.bytes.split(separator: UInt8(ascii: "\n")).map { try JSONValue(parsing: $0) }
    }

    private func expectWhole(_ result: JSONValue, delivered: Int) {
        #expect(result["delivered"]?.int == delivered, "\(result)")
        for fault in ["missing", "doubled", "disordered", "damaged"] { #expect(result[fault]?.int == 0) }
    }

    @Test func everyWorkloadIsWhole() throws {
        try stage.broker()
        let results = try results("--count", "320")
        #expect(
            results.map { $0["workload"]?.text } == [
                "throughput", "fan-out", "fan-in", "latency", "observers", "retained", "connect",
            ])
        for (result, delivered) in zip(results, [320, 32_000, 320, 352, 320, 3_200]) {
            expectWhole(result, delivered: delivered)
        }
        #expect(results[3]["microseconds"]?["p99"] != nil)
        #expect(results[6]["connections"]?.int == 320)
        let status = try stage.status()
        #expect(status["retained"]?.int == 0, "what was retained was cleared")
    }

    @Test(arguments: [
        (["throughput", "--senders", "3", "--receivers", "4", "--threads", "2", "-a"], 3 * 33 * 4),
        (["observers", "--names", "7", "--receivers", "3", "--globs", "20", "--changes", "500"], 100),
        (["fan-out", "--fresh-names", "--receivers", "2", "--globs", "5"], 200),
        (["fan-in", "--names", "3", "--match", "--senders", "2", "-a"], 100),
        (["throughput", "--size", "300K", "--receivers", "2"], 200),
        (["retained", "--size", "10K", "--receivers", "2"], 200),
    ])
    func optionsChangeWhatIsDone(arguments: [String], delivered: Int) throws {
        try stage.broker()
        let bench = try bench(["--json", "-q", "--count", "100"] + arguments)
        try bench.expectEnd(0, within: 60)
        expectWhole(try JSONValue(parsing: bench.output.bytes), delivered: delivered)
    }

    @Test func withoutABrokerItStartsOne() throws {
        stage.environment["NOTIFICATION_BROKER_SOCKET"] = nil
        stage.environment["XDG_RUNTIME_DIR"] = "\(stage.directory.path)"
        let bench = try bench(["--count", "50", "throughput", "latency"])
        try bench.expectEnd(0, within: 60)
        #expect(bench.errorLines == ["broker-bench: no broker is running: measuring one of its own"])
        let lines = bench.outputText.split(separator: "\n")
        #expect(lines.count == 4, "\(bench.outputText)")
        #expect(lines[1].hasPrefix("throughput") && lines[3].contains("p99.9"))
    }

    @Test func aPlaceThatWasNamedMustBeServed() throws {
        try bench(["throughput"]).expectFailure(69, "no broker at")
        try bench(["--socket", "\(stage.path("other"))"]).expectFailure(69, "no broker at")
    }

    @Test(arguments: [
        (["through"], "did you mean throughput?"), (["--size", "26"], "from 27"),
        (["--senders", "0"], "from 1"),
        (["observers", "--names", "3", "--receivers", "4"], "can't share"), (["--colour"], "unknown option"),
    ])
    func wrongUsageIsTold(arguments: [String], words: String) throws {
        try bench(arguments).expectFailure(64, words)
    }

    @Test func aSignalEndsItAndItsBroker() throws {
        stage.environment["NOTIFICATION_BROKER_SOCKET"] = nil
        stage.environment["XDG_RUNTIME_DIR"] = "\(stage.directory.path)"
        let bench = try bench(["--count", "99999999", "throughput"])
        try bench.errorLine("one of its own")
        let children = "/proc/\(bench.pid)/task/\(bench.pid)/children"
        let broker = try stage.wait(for: "its broker") {
            let list = try FileSystem.contents(of: Path(children))
            return Int32(String(decoding: list, as: UTF8.self).split(separator: " ").first ?? "")
        }
        try bench.send(.interrupt)
        #expect(try bench.status() == 130)
        #expect(CPUClock.process(broker) == nil, "the broker has ended")
    }

    private func run(_ way: TamperingBroker.Way) throws -> ToolProcess {
        let broker = try TamperingBroker(way, senders: 2, on: stage)
        let bench = try bench([
            "--json", "-q", "--count", "20", "--senders", "2", "--receivers", "2", "throughput",
        ])
        try stage.wait(for: "its end") { () throws -> Void? in
            try broker.serve()
            return try bench.isRunning ? nil : ()
        }
        return bench
    }

    @Test func aFakeThatRelaysIsWhole() throws {
        let bench = try run(.not)
        try bench.expectEnd(0)
        expectWhole(try JSONValue(parsing: bench.output.bytes), delivered: 40)
    }

    @Test(arguments: [
        (TamperingBroker.Way.loses, "missing"), (.doubles, "doubled"), (.reorders, "disordered"),
        (.damages, "damaged"), (.ordersForEach, "disordered"), (.forgetsTheLast, "missing"),
    ])
    func aFakeThatCheatsIsFound(way: TamperingBroker.Way, fault: String) throws {
        let bench = try run(way)
        #expect(try bench.status() == 76)
        let result = try JSONValue(parsing: bench.output.bytes)
        #expect(result[fault]?.int ?? 0 > 0, "\(result)")
        #expect(bench.errorText.hasPrefix("broker-bench: throughput: deliveries were"), "\(bench.errorText)")
        #expect(bench.errorLines.count == 1)
    }
}
