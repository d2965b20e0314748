import Glibc
import TestSupport
import Testing
import UnixIO

@Suite struct ChildProcessTests {
    private func shell(
        _ script: String, environment: [String] = [], descriptors: [(from: Int32, to: Int32)] = []
    ) throws -> ChildProcess {
        try ChildProcess(
            program: "/bin/sh", arguments: ["sh", "-c", script].map { Array($0.utf8) },
            environment: environment.map { Array($0.utf8) }, descriptors: descriptors)
    }

    private func output(of script: String, environment: [String] = []) throws -> String {
        let pipe = try Pipe()
        let child = try shell(script, environment: environment, descriptors: [(pipe.writing.number, 1)])
        let reading = pipe.closeWriting()
        let bytes = try Streams.readAll(reading.number)
        #expect(try child.wait() == .exited(0))
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func itsEndIsKnown() throws {
        #expect(try shell("exit 7").wait() == .exited(7))
        #expect(try shell("kill -TERM $$").wait() == .signaled(.terminate))
        #expect(throws: SystemError("posix_spawn", code: ENOENT)) {
            _ = try ChildProcess(program: "/nonexistent", arguments: [], environment: [])
        }
    }

    @Test func itsEndCanBeWaitedForWithPoll() throws {
        let child = try ChildProcess(
            program: "sleep", arguments: ["sleep", "60"].map { Array($0.utf8) }, environment: [])
        let end = try child.endDescriptor()
        #expect(try child.endIfEnded() == nil)
        #expect(try PollEntry.wait(for: end.number, .readable, until: 0) == [])
        try child.send(.kill)
        #expect(try PollEntry.wait(for: end.number, .readable, until: soon()) == .readable)
        #expect(try child.endIfEnded() == .signaled(.kill))
    }

    @Test func itHasTheEnvironmentGiven() throws {
        #expect(try output(of: "printf %s \"$A\"", environment: ["A=b c"]) == "b c")
        #expect(CurrentProcess.environment().contains { $0.starts(with: "PATH=".utf8) })
        #expect(CurrentProcess.environment("PATH")?.isEmpty == false)
        #expect(CurrentProcess.environment("NOT_SET_AT_ALL") == nil)
    }

    @Test func itInheritsNoOtherDescriptor() throws {
        let leaked = dup(try Pipe().reading.number)
        defer { close(leaked) }
        // The fourth is the one that lists.
        #expect(try output(of: "ls /proc/self/fd", environment: ["PATH=/bin:/usr/bin"]) == "0\n1\n2\n3\n")
    }

    @Test func itHasDefaultSignalsAndNoneBlocked() throws {
        Signal.ignore(.brokenPipe)
        #expect(try shell("kill -PIPE $$").wait() == .signaled(.brokenPipe))
        let blocked = try output(of: "grep ^SigBlk /proc/self/status", environment: ["PATH=/bin:/usr/bin"])
        #expect(blocked == "SigBlk:\t0000000000000000\n")
    }

    @Test func processesHaveNames() throws {
        let child = try ChildProcess(
            program: "sleep", arguments: ["sleep", "60"].map { Array($0.utf8) }, environment: [])
        #expect(CurrentProcess.programName(of: child.pid) == Array("sleep".utf8))
        try child.send(.kill)
        _ = try child.wait()
        #expect(CurrentProcess.programName(of: child.pid) == nil)
        #expect(CurrentProcess.pid == getpid())
        #expect(CurrentProcess.arguments().all == CommandLine.arguments.dropFirst().map { Array($0.utf8) })
    }
}

@Suite struct ByteStringsTests {
    @Test func textsOfAnyBytesInARow() {
        let texts: [[UInt8]] = [[], [0xFF, 0], Array("é".utf8), []]
        var strings = ByteStrings(texts)
        #expect(strings.all == texts)
        #expect(strings.first == [])
        #expect(strings[1].elementsEqual([0xFF, 0]))
        strings.append([1])
        #expect(strings.count == 5)
        #expect(strings.all == texts + [[1]])
        #expect(ByteStrings().first == nil)
    }
}

@Suite struct ServiceManagerTests {
    @Test(arguments: [false, true])
    func itIsToldThatWeAreReady(isAbstract: Bool) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("notify")
        let manager = try BoundSocket(.datagram, at: path, isAbstract: isAbstract)
        try ServiceManager.notifyReady((isAbstract ? [UInt8(ascii: "@")] : []) + path.bytes)
        #expect(manager.receive() == Array("READY=1".utf8))
        #expect(throws: SystemError.self) { try ServiceManager.notifyReady([]) }
    }

    @Test(arguments: [
        ([:], 0), (["LISTEN_FDS": "1"], 1), (["LISTEN_FDS": "2", "LISTEN_PID": "42"], 2),
        (["LISTEN_FDS": "1", "LISTEN_PID": "43"], 0), (["LISTEN_FDS": "1", "LISTEN_PID": ""], 0),
        (["LISTEN_FDS": "x"], 0), (["LISTEN_FDS": "-1"], 0), (["LISTEN_PID": "42"], 0),
    ])
    func passedDescriptors(variables: [String: String], count: Int) {
        let passed = ServiceManager.passedDescriptors(
            environment: { variables[$0].map { Array($0.utf8) } }, pid: 42)
        #expect(passed == count)
    }
}
