import CommandLineSupport
import TestSupport
import Testing
import UnixIO

@Suite(.ownThreads) struct CommandRunnerTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func runner(_ command: String, _ variables: String...) -> CommandRunner {
        CommandRunner(
            command: Array(command.utf8),
            environment: (["PATH=/usr/bin:/bin", "OUT=\(directory.path.appending("out"))"] + variables)
                .map { Array($0.utf8) })
    }

    private func input(
        _ value: ShownValue = .none, name: String = "N", object: String? = nil, frame: String = "{}"
    ) -> CommandRunner.Input {
        CommandRunner.Input(
            name: Array(name.utf8), object: object.map { Array($0.utf8) }, value: value,
            frame: Array(frame.utf8)[...])
    }

    private func written() throws -> String {
        String(decoding: try FileSystem.contents(of: directory.path.appending("out")), as: UTF8.self)
    }

    @Test func theFrameIsItsInputAndTheRestItsEnvironment() throws {
        let command =
            #"printf '%s|%s|%s|' "$NOTIFICATION_NAME" "$NOTIFICATION_OBJECT" "$NOTIFICATION_DATA" > "$OUT"; cat >> "$OUT""#
        let outcome = runner(command).run(
            input(.text(Array("$(a) `b` \"\n'é".utf8)), name: "N m", object: "", frame: "{\n\"a\":1}"))
        #expect(outcome == .succeeded)
        #expect(try written() == "N m||$(a) `b` \"\n'é|{ \"a\":1}\n")
    }

    @Test func variablesWithoutAValueAreUnsetAlsoIfInherited() throws {
        let command =
            #"printf '%s|%s|%s;' "${NOTIFICATION_NAME-no}" "${NOTIFICATION_OBJECT-no}" "${NOTIFICATION_DATA-no}" >> "$OUT""#
        let runner = runner(
            command, "NOTIFICATION_NAME=old", "NOTIFICATION_OBJECT=old", "NOTIFICATION_DATA=old")
        let fits = 131_072 - "NOTIFICATION_DATA=".utf8.count - 1
        for value in [
            .none, .text([]), .text([0x61, 0, 0x62]), .json(Array("[1,\n2]".utf8)),
            .text(Array(repeating: 0x61, count: fits + 1)),
        ] as [ShownValue] {
            #expect(runner.run(input(value)) == .succeeded)
        }
        #expect(try written() == "N|no|no;N|no|;N|no|no;N|no|[1, 2];N|no|no;")
        #expect(runner.run(input(.text(Array(repeating: 0x61, count: fits)))) == .succeeded)
        #expect(
            try written().utf8.count == "N|no|no;N|no|;N|no|no;N|no|[1, 2];N|no|no;N|no|;".utf8.count + fits)
    }

    @Test func aFailureIsTold() {
        #expect(runner("exit 7").run(input()) == .failed("the command ended with status 7"))
        #expect(runner("kill -9 $$").run(input()) == .failed("the command was ended by signal 9"))
        #expect(runner("/no/such/program 2>&-").run(input()) == .failed("the command ended with status 127"))
    }

    @Test func aMegabyteThatNobodyReadsDoesNoHarm() throws {
        let frame = "{\"a\":\"" + String(repeating: "x", count: 1 << 20) + "\"}"
        #expect(runner("exec <&-; echo ran > \"$OUT\"").run(input(frame: frame)) == .succeeded)
        #expect(try written() == "ran\n")
        #expect(runner("wc -c > \"$OUT\"").run(input(frame: frame)) == .succeeded)
        #expect(try written().split(separator: "\n").last == "\(frame.utf8.count + 1)")
    }

    @Test func onlyTheStandardDescriptorsAreInherited() throws {
        let inherited = duplicateForChildren(0)
        defer { close(inherited) }
        #expect(runner("ls /proc/self/fd > \"$OUT\"").run(input()) == .succeeded)
        // ls itself opens the directory as 3.
        #expect(try written() == "0\n1\n2\n3\n")
    }

    @Test func signalsAreAtTheirDefaults() throws {
        Signal.ignore(.brokenPipe)
        #expect(runner("grep -E '^Sig(Ign|Blk)' /proc/self/status > \"$OUT\"").run(input()) == .succeeded)
        for line in try written().split(separator: "\n") {
            // 32 and 33 are the C library's own, which no program can set.
            let signals = try #require(UInt64(line.suffix(16), radix: 16))
            #expect(signals & ~(3 << 31) == 0, "\(line)")
        }
        #expect(try written().split(separator: "\n").count == 2)
    }

    @Test func theLimitEndsTheWait() throws {
        let pipe = try Pipe()
        let runner = runner("echo $$ > \"$OUT\"; exec sleep 60")
        let soon = MonotonicClock.deadline(inSeconds: 0.3)
        #expect(runner.run(input(), until: WaitLimit(deadline: soon)) == .interrupted)
        let pid = try #require(Int32(try written().split(separator: "\n")[0]))
        // It was asked to end; waited for here, since its parent does not.
        #expect(waitForSignaled(pid) == Signal.terminate.rawValue)
        _ = Array("x".utf8).withUnsafeBytes { Streams.writeAll($0, to: pipe.writing.number) }
        #expect(runner.run(input(), until: WaitLimit(alarm: pipe.reading.number)) == .interrupted)
    }
}
