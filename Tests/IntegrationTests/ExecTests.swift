import TestSupport
import Testing
import UnixIO

/// `receive-data --exec`.
@Suite(.ownThreads) struct ExecTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    private func receiver(_ arguments: String..., environment: [String: String]? = nil) throws -> ToolProcess
    {
        try stage.broker()
        let receiver = try stage.start(
            "receive-data", bytes: arguments.map { Array($0.utf8) }, environment: environment)
        try receiver.expectLine("NO DATA")
        return receiver
    }

    @Test func theCommandLearnsAllOfIt() throws {
        let receiver = try receiver(
            "-n", "N", "-c", "1", "--exec",
            #"cat > "$HOME/frame"; printf '%s|%s|%s' "$NOTIFICATION_NAME" "$NOTIFICATION_OBJECT" "$NOTIFICATION_DATA" > "$HOME/env""#
        )
        try stage.send("-n", "N", "-o", "ob ject", "-u", #"{"data":"d\u0061ta 😀\nline `id`","n":1.50}"#)
        try receiver.expectEnd(output: "NO DATA\n")
        #expect(try stage.contents("env") == "N|ob ject|data 😀\nline `id`")
        let frame = try stage.contents("frame")
        #expect(frame.contains(#"{"data":"d\u0061ta 😀\nline `id`","n":1.50}"#))
        #expect(try JSONValue(parsing: frame.utf8)["type"] == .string("notification"))
    }

    @Test func oneAtATimeAndTheLastToItsEnd() throws {
        let receiver = try receiver(
            "-c", "4", "--exec",
            #"echo "start $NOTIFICATION_DATA" >> "$HOME/log"; sleep 0.$NOTIFICATION_DATA; echo "end $NOTIFICATION_DATA" >> "$HOME/log""#
        )
        try stage.send("-l", input: .bytes(Array("3\n0\n2\n0\n".utf8)))
        try receiver.expectEnd()
        #expect(
            try stage.contents("log") == "start 3\nend 3\nstart 0\nend 0\nstart 2\nend 2\nstart 0\nend 0\n")
    }

    @Test func aFailureIsToldAndEndsNothing() throws {
        let receiver = try receiver(
            "-c", "4", "--exec",
            #"case $NOTIFICATION_DATA in fail) exit 7;; absent) /no/such/program 2> /dev/null;; kill) kill -9 $$;; *) echo ran > "$HOME/ran";; esac"#
        )
        for word in ["fail", "absent", "kill", "fine"] { try stage.send(word) }
        try receiver.expectEnd(output: "NO DATA\n")
        #expect(receiver.errorLines.count == 3)
        #expect(receiver.errorLines.allSatisfy { $0.hasPrefix("receive-data: ") })
        for (line, number) in zip(receiver.errorLines, ["7", "127", "9"]) { #expect(line.contains(number)) }
        #expect(try stage.contents("ran") == "ran\n")
    }

    @Test func nothingIsInheritedAndNothingIsLeft() throws {
        let receiver = try receiver(
            "--exec", #"ls /proc/self/fd | tr '\n' ' ' > "$HOME/fds.$NOTIFICATION_DATA"; echo >> "$HOME/log""#
        )
        let lines = (0..<30).map { "\($0)\n" }.joined()
        try stage.send("-l", input: .bytes(Array(lines.utf8)))
        _ = try stage.wait(for: "30 commands") { (try? stage.contents("log"))?.utf8.count == 30 ? true : nil }
        #expect(try stage.contents("fds.7") == "0 1 2 3 ")
        _ = try stage.wait(for: "no child is left") {
            let children = try FileSystem.contents(
                of: Path("/proc/\(receiver.pid)/task/\(receiver.pid)/children"))
            return children.isEmpty ? true : nil
        }
        #expect(try receiver.isRunning)
    }

    @Test func whatIsNotThereIsUnset() throws {
        var environment = stage.environment
        for name in ["NAME", "OBJECT", "DATA"] { environment["NOTIFICATION_\(name)"] = "old" }
        let receiver = try receiver(
            "-n", "N", "-c", "5", "--exec",
            #"printf '%s|%s|%s;' "$NOTIFICATION_NAME" "${NOTIFICATION_OBJECT-unset}" "${NOTIFICATION_DATA-unset}" >> "$HOME/out""#,
            environment: environment)
        let client = try stage.client()
        let long = String(repeating: "x", count: 200_000)
        for (id, members) in [
            #""object":"o","userInfo":{"data":"d"}"#, #""userInfo":{"data":""}"#, #""object":"""#,
            #""object":"p","userInfo":{"data":"a\u0000b"}"#, #""userInfo":{"data":"\#(long)"}"#,
        ].enumerated() {
            try client.request(#"{"type":"post","id":\#(id),"name":"N",\#(members)}"#)
        }
        try receiver.expectEnd()
        #expect(try stage.contents("out") == "N|o|d;N|unset|;N||unset;N|p|unset;N|unset|unset;")
    }

    @Test func aSignalEndsTheReceiverWhileACommandRuns() throws {
        let receiver = try receiver("--exec", #"echo $$ > "$HOME/pid"; exec sleep 60"#)
        try stage.send("x")
        let pid = try stage.wait(for: "the command") {
            (try? stage.contents("pid")).flatMap { $0.hasSuffix("\n") ? Int32($0.dropLast()) : nil }
        }
        try receiver.send(.terminate)
        try receiver.expectEnd(143, within: 5)
        _ = try stage.wait(for: "the command's end") {
            CurrentProcess.programName(of: pid) == nil ? true : nil
        }
    }
}
