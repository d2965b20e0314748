import TestSupport
import Testing
import UnixIO

/// The library's load tool from outside; its posting half is a program that posts and ends at once.
@Suite(.ownThreads) struct LibraryBenchTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    private func bench(_ arguments: String...) throws -> ToolProcess {
        try stage.start("library-bench", bytes: arguments.map { Array($0.utf8) })
    }

    @Test func everyMeasureHasItsLine() throws {
        let bench = try bench("500")
        try bench.expectEnd(0, within: 60)
        #expect(bench.errorText.isEmpty, "\(bench.errorText)")
        let lines = bench.outputText.split(separator: "\n")
        try #require(lines.count == 4, "\(bench.outputText)")
        for (index, line) in lines.enumerated() {
            #expect(
                line.contains(index % 2 == 0 ? "a userInfo of two members" : "a Codable message"), "\(line)")
            #expect(
                line.contains(index < 2 ? " a second; processor time for each: " : " times a bare write ("),
                "\(line)")
        }
    }

    @Test func whatIsWrongIsSaid() throws {
        for arguments in [["1"], ["many"], ["post", "userInfo"]] {
            let bench = try stage.start("library-bench", bytes: arguments.map { Array($0.utf8) })
            try bench.expectEnd(64, within: 30)
            #expect(bench.errorText.contains("usage: library-bench"))
        }
    }

    /// Some hundred kilobytes are in the outbox when the poster returns from its last post, since its receiver stands still and
    /// the broker queues little: they go out before the process ends.
    @Test func whatIsLeftAtTheExitGoesOut() throws {
        try stage.broker("--queue-bytes", "64K")
        let receiver = try stage.receiver(
            "--name", "LibraryBench.Reading", "--count", "4000", "--key", "number")
        try receiver.send(.stop)
        let poster = try bench("post", "userInfo", "\(stage.socket)", "4000")
        #expect(try poster.line(within: 60) == "posted 4000")
        try receiver.send(.resume)
        try poster.expectEnd(0, within: 60)
        try receiver.expectEnd(0, within: 60)
        let lines = receiver.outputText.split(separator: "\n")
        #expect(lines.dropFirst().elementsEqual((0..<4_000).map { "Received data: \($0)" }))
    }
}
