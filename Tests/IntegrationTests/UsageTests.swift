import TestSupport
import Testing
import UnixIO

/// Options as users type them, help, and what is wrong usage.
@Suite(.ownThreads) struct UsageTests {
    private let stage: Stage
    private static let tools = ["notification-broker", "send-data", "receive-data"]

    init() throws { stage = try Stage() }

    @Test(arguments: [
        (
            "notification-broker",
            "socket socket-mode allow-uid queue-bytes frame-bytes retained-bytes max-connections patience frame-timeout "
                + "quiet verbose json help version"
        ),
        (
            "send-data",
            "name object key user-info lines file retain clear wait-broker deliver-immediately wait-receivers timeout "
                + "print-receipt quiet socket help version"
        ),
        (
            "receive-data",
            "name match all object key format null count timeout no-retained overflow wait-broker ready-fd "
                + "no-reconnect exec quiet socket help version"
        ),
    ])
    func helpNamesEveryOption(tool: String, options: String) throws {
        let help = try stage.start(tool, "--help")
        try help.expectEnd()
        #expect(help.errorText == "")
        let words = Set(help.outputText.split { !($0.isLetter || $0 == "-") })
        for option in options.split(separator: " ") { #expect(words.contains("--\(option)"), "\(option)") }
        #expect(help.outputText.hasPrefix("Usage: \(tool) "))
        #expect(help.outputText.split(separator: "\n").allSatisfy { $0.count < 80 })
    }

    @Test func theVersionIsOneLine() throws {
        for tool in Self.tools {
            let version = try stage.start(tool, "--version")
            try version.expectEnd()
            #expect(version.outputText.hasPrefix("\(tool) ") && version.outputText.hasSuffix("\n"))
            #expect(version.outputText.filter(\.isNewline).count == 1)
            #expect(version.outputText.contains { $0.isNumber })
            #expect(version.errorText == "")
        }
    }

    @Test func everySpellingWorks() throws {
        try stage.broker()
        let receivers = try [
            ["--name=X", "--count=1"], ["--name", "X", "--count", "1"], ["-nX", "-c1"],
            ["-n", "X", "-c", "1"],
            ["-0nX", "-c1"], ["-m", "?", "-c1", "--no-retained"],
        ].map { try stage.start("receive-data", bytes: $0.map { Array($0.utf8) }) }
        try stage.awaitObservers("X", receivers.count)
        try stage.send("-qn", "X", "--", "-v")
        for receiver in receivers {
            try receiver.expectEnd()
            #expect(receiver.outputText.contains("Received data: -v"))
        }
    }

    @Test func mistakesAreNamed() throws {
        for tool in Self.tools {
            try stage.start(tool, "--no-such-option").expectFailure(64, "--no-such-option")
            try stage.start(tool, "-Z").expectFailure(64, "-Z")
            try stage.start(tool, "--quiett").expectFailure(64, "did you mean --quiet?")
            try stage.start(tool, "--socket").expectFailure(64, "--socket")
            try stage.start(tool, "-qS").expectFailure(64, "-S")
            try stage.start(tool, "--quiet=yes").expectFailure(64, "yes")
        }
    }

    @Test(arguments: [
        ["receive-data", "-c", "many"], ["receive-data", "-c", "-1"], ["receive-data", "-c", "1.5"],
        ["receive-data", "-t", "soon"], ["receive-data", "-t", "-1"], ["receive-data", "-f", "xml"],
        ["receive-data", "--overflow", "maybe"], ["receive-data", "--ready-fd", "x"],
        ["send-data", "-w", "all", "x"],
        ["send-data", "-t", "nan", "x"], ["send-data", "-t", "", "x"],
        ["notification-broker", "--queue-bytes", "lots"],
        ["notification-broker", "--socket-mode", "9"], ["notification-broker", "--patience", "inf"],
        ["notification-broker", "--allow-uid", "somebody"],
        ["notification-broker", "--max-connections", "0x10"],
        ["notification-broker", "--frame-bytes", "99999999999999999999G"],
    ])
    func valuesThatMakeNoSense(words: [String]) throws {
        let tool = try stage.start(words[0], bytes: words.dropFirst().map { Array($0.utf8) })
        try tool.expectFailure(64, "'\(words[2])'")
        #expect(tool.errorText.contains(words[1].trimmingDashes), "the option is named: \(tool.errorText)")
    }

    @Test func whatDoesNotGoTogether() throws {
        try stage.broker()
        for arguments in [
            ["a", "b"], ["-u", "{}", "a"], ["-l", "a"], ["-f", "/dev/null", "a"], ["-l", "-f", "/dev/null"],
            ["-u", "{}", "-l"], ["--clear", "a"], ["--clear", "-u", "{}"], ["--clear", "--retain", "a"],
        ] {
            try stage.start("send-data", bytes: arguments.map { Array($0.utf8) }).expectFailure(64)
        }
        #expect(try stage.status()["posted"]?.int == 0)
        try stage.start("receive-data", "hello").expectFailure(64, "hello")
        try stage.start("notification-broker", "dance").expectFailure(64, "dance")
        try stage.start("notification-broker", "status", "stop").expectFailure(64)
        try stage.start("notification-broker", "--json").expectFailure(64, "--json")
    }

    @Test func namesObjectsAndGlobs() throws {
        try stage.broker()
        let long = String(repeating: "n", count: 256)
        for name in ["", long, "line\nbreak", "bell\u{7}", "\u{7F}"] {
            try stage.start("send-data", "-n", name, "x").expectFailure(64)
            try stage.start("receive-data", "-n", name).expectFailure(64)
        }
        for glob in ["", long, "a\\"] { try stage.start("receive-data", "-m", glob).expectFailure(64) }
        let object = String(repeating: "é", count: 512)
        try stage.start("send-data", "-o", object + "x", "x").expectFailure(64)
        try stage.start("receive-data", "-o", object + "x").expectFailure(64)
        #expect(try stage.status()["posted"]?.int == 0)
        try stage.send("-qn", String(long.dropLast()), "-o", object, "x")
        #expect(try stage.status()["posted"]?.int == 1)
    }

    @Test func aSocketPathThatIsTooLong() throws {
        let path = "/tmp/" + String(repeating: "x", count: 200)
        for (tool, arguments) in [
            ("notification-broker", []), ("notification-broker", ["status"]),
            ("notification-broker", ["path"]),
            ("send-data", ["x"]), ("receive-data", []),
        ] {
            let tool = try stage.start(tool, bytes: (arguments + ["-S", path]).map { Array($0.utf8) })
            try tool.expectFailure(64, "205")
            #expect(tool.errorText.contains("107"))
        }
    }
}

extension String {
    fileprivate var trimmingDashes: String { String(drop { $0 == "-" }) }
}
