import CommandLineSupport
import Testing
import UnixIO

private let name = Option("name", short: "n", value: "NAME", help: "the name")
private let object = Option("object", short: "o", value: "OBJECT", help: "the object")
private let quiet = Option("quiet", short: "q", help: "no hints")
private let null = Option("null", short: "0", help: "end with NUL")
private let retained = Option("no-retained", help: "leave out retained ones")

private let long = Option(
    "a-very-long-option-name", value: "SOMETHING",
    help: "what does not fit beside its name begins on the next line, and is wrapped as well, of course")

private let tool = Tool(
    name: "tool", version: "1", usage: "[OPTIONS] [DATA]", summary: "A tool.",
    options: { $0(name) || $0(object) || $0(quiet) || $0(null) || $0(retained) },
    exitStatuses: { [.success, .usage] })

private func request(_ words: String...) throws(Failure) -> String {
    switch try tool.parse(ByteStrings(words.map(bytes))) {
    case .help: "help"
    case .version: "version"
    case .run: "run"
    }
}

private func parse(_ words: String...) throws(Failure) -> Arguments {
    let request = try tool.parse(ByteStrings(words.map { Array($0.utf8) }))
    guard case .run(let arguments) = request else { throw Failure(.success, "\(request)") }
    return arguments
}

private func message(_ words: String...) -> String {
    do throws(Failure) {
        return "no failure: \(try tool.parse(ByteStrings(words.map { Array($0.utf8) })))"
    } catch {
        return error.status == .usage ? error.message : "\(error.status): \(error.message)"
    }
}

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

@Suite struct ToolParsingTests {
    @Test(arguments: [
        ["--name=X"], ["--name", "X"], ["-nX"], ["-n", "X"], ["-qnX"], ["-qn", "X"], ["-q0nX"],
    ])
    func everySpellingOfAValue(words: [String]) throws {
        let request = try tool.parse(ByteStrings(words.map(bytes)))
        guard case .run(let arguments) = request else {
            Issue.record("\(request)")
            return
        }
        #expect(arguments.bytes(name) == bytes("X"))
        #expect(arguments.has(quiet) == words[0].contains("q"))
        #expect(arguments.has(null) == words[0].contains("0"))
        #expect(arguments.operands.all.isEmpty)
    }

    @Test func valuesMayBeEmptyOrLookLikeOptions() throws {
        #expect(try parse("--name=").bytes(name) == [])
        #expect(try parse("-n", "").bytes(name) == [])
        #expect(try parse("-n", "--quiet").bytes(name) == bytes("--quiet"))
        #expect(try parse("-n", "--quiet").has(quiet) == false)
        #expect(try parse("--name=a=b").bytes(name) == bytes("a=b"))
        #expect(try parse("-n=X").bytes(name) == bytes("=X"))
    }

    @Test func operandsAndOptionsMayBeMixed() throws {
        let arguments = try parse("one", "-q", "-", "--name", "X", "two", "--", "-n", "--")
        #expect(arguments.operands.all == ["one", "-", "two", "-n", "--"].map(bytes))
        #expect(arguments.has(quiet))
        #expect(arguments.all(name) == [bytes("X")])
    }

    @Test func repeatedValuesAreKeptInOrderAndTheLastCounts() throws {
        let arguments = try parse("-na", "-o", "x", "--name=b", "-n", "c")
        #expect(arguments.all(name) == ["a", "b", "c"].map(bytes))
        #expect(arguments.bytes(name) == bytes("c"))
        #expect(arguments.bytes(object) == bytes("x"))
        #expect(arguments.bytes(retained) == nil)
    }

    @Test func bytesThatAreNoTextPassThrough() throws {
        let request = try tool.parse(ByteStrings([[0xFF, 0x00], bytes("-n") + [0xC0]]))
        guard case .run(let arguments) = request else {
            Issue.record("\(request)")
            return
        }
        #expect(arguments.operands.all == [[0xFF, 0x00]])
        #expect(arguments.bytes(name) == [0xC0])
    }

    @Test func helpAndVersionCountWhereTheyAreMet() throws {
        #expect(try request("--help", "--nonsense") == "help")
        #expect(try request("-qh") == "help")
        #expect(try request("x", "--version") == "version")
        #expect(try parse("--", "--help").operands.all == [bytes("--help")])
        #expect(try parse("-n", "--help").bytes(name) == bytes("--help"))
    }

    @Test func mistakesAreNamed() {
        #expect(message("--no-such-option") == "unknown option '--no-such-option'; see tool --help")
        #expect(message("--nmae", "x") == "unknown option '--nmae'; did you mean --name?")
        #expect(message("--obj=x") == "unknown option '--obj'; did you mean --object?")
        #expect(message("--no-retaned") == "unknown option '--no-retaned'; did you mean --no-retained?")
        #expect(message("-Z") == "unknown option '-Z'; see tool --help")
        #expect(message("-qN", "x") == "unknown option '-N'; did you mean -n?")
        #expect(message("-é") == "unknown option '-é'; see tool --help")
        #expect(message("--name") == "--name needs a value: --name NAME")
        #expect(message("-qn") == "-n needs a value: -n NAME")
        #expect(message("--quiet=yes") == "--quiet takes no value (it got 'yes')")
        #expect(message("--quiet=") == "--quiet takes no value (it got '')")
        #expect(message("--=x") == "unknown option '--'; see tool --help")
        #expect(message("--help=x") == "--help takes no value (it got 'x')")
    }

    @Test func whatDoesNotGoTogetherIsRefused() throws {
        let arguments = try parse("-q", "-n", "X", "a", "b")
        #expect(throws: Failure(.usage, "--name does not go with 'status'")) {
            try arguments.allow([quiet], with: "'status'")
        }
        #expect(throws: Never.self) { try arguments.allow([quiet, name], with: "'status'") }
        #expect(throws: Failure(.usage, "--quiet does not go with --name")) {
            try arguments.refuse([object, quiet], with: "--name")
        }
        #expect(throws: Failure(.usage, "unexpected argument 'b'")) {
            try arguments.refuseOperands(beyond: 1)
        }
        #expect(throws: Never.self) { try arguments.refuseOperands(beyond: 2) }
    }

    @Test func textMustBeUTF8() throws {
        let request = try tool.parse(ByteStrings([bytes("-n") + [0x61, 0xE2, 0x82], bytes("-oé")]))
        guard case .run(let arguments) = request else {
            Issue.record("\(request)")
            return
        }
        #expect(throws: Failure(.dataRefused, "--name is not UTF-8 (at byte 1)")) {
            try arguments.text(name, else: .dataRefused)
        }
        #expect(try arguments.text(object) == bytes("é"))
        #expect(try arguments.text(quiet) == nil)
    }
}

@Suite struct HelpTextTests {
    @Test func everyOptionAndStatusIsNamedInLinesOfEightyColumns() throws {
        let wordy = Tool(
            name: "tool", version: "1", usage: "[run] [OPTIONS]\nstatus [--json]",
            summary:
                "One paragraph that is long enough to be wrapped, as it goes on and on, beyond eighty columns.",
            options: { $0(name) || $0(quiet) || $0(null) || $0(long) },
            exitStatuses: { ExitStatus.allCases })
        let lines = wordy.helpText.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[0] == "Usage: tool [run] [OPTIONS]")
        #expect(lines[1] == "       tool status [--json]")
        #expect(lines.allSatisfy { $0.count < 80 })
        #expect(lines.contains("  -n, --name NAME             the name"))
        #expect(lines.contains("  -0, --null                  end with NUL"))
        #expect(lines.contains("      --a-very-long-option-name SOMETHING"))
        #expect(lines.contains("  -h, --help                  print this help and exit"))
        #expect(lines.contains("      --version               print the version and exit"))
        #expect(lines.contains("   64  wrong usage (a bad NAME, OBJECT or GLOB too)"))
        #expect(lines.contains("  143  ended by SIGTERM"))
        #expect(wordy.helpText.hasSuffix("ended by SIGTERM\n"))
    }
}
