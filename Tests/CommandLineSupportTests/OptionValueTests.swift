import CommandLineSupport
import Testing
import UnixIO

@Suite struct OptionValueTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(
        arguments: [
            ("0", .zero), ("5", .seconds(5)), ("0.5", .milliseconds(500)), (".25", .milliseconds(250)),
            ("5.", .seconds(5)), ("0.0000000004", .nanoseconds(1)),
            ("1.0000000019", .seconds(1) + .nanoseconds(1)), ("007", .seconds(7)),
            ("999999999.999999999", .seconds(999_999_999) + .nanoseconds(999_999_999)),
            ("1000000000.9", .seconds(1_000_000_000)),
            ("99999999999999999999999999999999", .seconds(1_000_000_000)),
        ] as [(String, Duration)])
    func seconds(text: String, expected: Duration) {
        #expect(OptionValue.seconds(bytes(text)) == expected)
    }

    @Test(arguments: [
        "", ".", "-1", "+1", "1e3", "nan", "inf", "1.2.3", " 1", "1 ", "1,5", "0x10", "soon", "\u{661}",
    ])
    func noSeconds(text: String) {
        #expect(OptionValue.seconds(bytes(text)) == nil)
    }

    @Test(arguments: [
        ("0", 0), ("65536", 65536), ("64K", 65536), ("8m", 8 << 20), ("1G", 1 << 30),
        ("9223372036854775807", Int.max), ("8589934591G", 8_589_934_591 << 30),
    ])
    func byteCounts(text: String, expected: Int) {
        #expect(OptionValue.byteCount(bytes(text)) == expected)
    }

    @Test(arguments: [
        "", "K", "-1", "1T", "1KB", "1.5M", "9223372036854775808", "8589934592G", "99999999999999999999G",
    ])
    func noByteCounts(text: String) {
        #expect(OptionValue.byteCount(bytes(text)) == nil)
    }

    @Test func countsModesAndUsers() {
        #expect(OptionValue.count(bytes("9223372036854775807")) == Int.max)
        for text in ["", "-1", "+1", "1.5", "many", "9223372036854775808"] {
            #expect(OptionValue.count(bytes(text)) == nil, "\(text)")
        }
        #expect(OptionValue.mode(bytes("0660")) == 0o660)
        #expect(OptionValue.mode(bytes("777")) == 0o777)
        for text in ["9", "0o660", "1000", "", "rw"] {
            #expect(OptionValue.mode(bytes(text)) == nil, "\(text)")
        }
        #expect(OptionValue.userID(bytes("0")) == 0)
        #expect(OptionValue.userID(bytes("4294967294")) == 4_294_967_294)
        for text in ["4294967295", "-1", "root", ""] {
            #expect(OptionValue.userID(bytes(text)) == nil, "\(text)")
        }
    }

    private enum Shape: String, CaseIterable {
        case round, square
    }

    @Test func aValueThatMakesNoSenseIsShown() throws {
        let options = [
            Option("timeout", short: "t", value: "SECONDS", help: ""), Option("count", value: "N", help: ""),
            Option("queue-bytes", value: "N", help: ""), Option("socket-mode", value: "OCTAL", help: ""),
            Option("allow-uid", value: "UID", help: ""), Option("shape", value: "SHAPE", help: ""),
        ]
        let tool = Tool(
            name: "t", version: "", usage: "", summary: "", options: { options.contains(where: $0) },
            exitStatuses: { [] })
        func arguments(_ words: String...) throws -> Arguments {
            guard case .run(let arguments) = try tool.parse(ByteStrings(words.map(bytes))) else {
                throw Failure(.success, "not run")
            }
            return arguments
        }
        let long = String(repeating: "y", count: 5000)
        #expect(throws: Failure(.usage, "--timeout takes a number of seconds, as in 5 or 0.5, not 'soon'")) {
            try arguments("-t", "soon").seconds(options[0])
        }
        #expect(throws: Failure(.usage, "--count takes a whole number from 1 to 10, not '11'")) {
            try arguments("--count", "11").count(options[1], in: 1...10)
        }
        #expect(
            throws: Failure(
                .usage,
                "--queue-bytes takes a number of bytes from 1024 to 4096, as in 64K, 8M or 1G, not '5K'")
        ) {
            try arguments("--queue-bytes=5K").byteCount(options[2], in: 1024...4096)
        }
        #expect(
            throws: Failure(.usage, "--socket-mode takes a mode from 0 to 0777 in octal, as in 0660, not '9'")
        ) {
            try arguments("--socket-mode", "9").mode(options[3])
        }
        #expect(
            throws: Failure(
                .usage, "--allow-uid takes a user's number, as `id -u NAME` prints it, not 'root'")
        ) {
            try arguments("--allow-uid", "5", "--allow-uid", "root").userIDs(options[4])
        }
        #expect(throws: Failure(.usage, "--shape takes one of round, square, not 'flat'")) {
            try arguments("--shape", "flat").choice(options[5], of: Shape.self)
        }
        #expect(
            throws: Failure(
                .usage,
                "--shape takes one of round, square, not '\(long.prefix(100))...' (5000 bytes)")
        ) {
            try arguments("--shape", long).choice(options[5], of: Shape.self)
        }
        #expect(try arguments("--shape", "square").choice(options[5]) == Shape.square)
        #expect(try arguments("--allow-uid", "5", "--allow-uid", "6").userIDs(options[4]) == [5, 6])
        #expect(try arguments().seconds(options[0]) == nil)
    }
}
