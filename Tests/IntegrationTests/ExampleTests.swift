import TestSupport
import Testing
import UnixIO

/// The examples, and what the README promises.
@Suite(.ownThreads) struct ExampleTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    /// The root of the package, which holds the build directory that this test runs in.
    private func root() throws -> Path {
        var directory = Executables.directory
        while (try? FileStatus(of: directory.appending("Package.swift"), followingLinks: true)) == nil {
            guard directory != "/" else {
                throw TestFailure("no Package.swift above \(Executables.directory)")
            }
            directory = directory.parent
        }
        return directory
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try FileSystem.contents(of: root().appending(name)), as: UTF8.self)
    }

    @Test(.enabled(if: Executables.python != nil)) func pythonSpeaksTheProtocol() throws {
        let python3 = try #require(Executables.python)
        let examples = try root().appending("examples/python")
        try stage.broker()
        let python = try stage.shell("exec \(python3) \(examples)/receive.py \(stage.socket)")
        try python.expectLine("ok None")
        let tool = try stage.receiver("-c", "2")
        try stage.send("from a tool é")
        try python.expectLine("notification {'data': 'from a tool é'}")
        let poster = try stage.shell("exec \(python3) \(examples)/post.py \(stage.socket) 'from Python é'")
        try poster.expectEnd(output: "{'type': 'ok', 'id': 1, 'seq': 2, 'receivers': 2}\n")
        try python.expectLine("notification {'data': 'from Python é'}")
        try tool.expectEnd(output: "NO DATA\nReceived data: from a tool é\nReceived data: from Python é\n")
    }

    @Test func theReadmeShowsThePythonThatIsTested() throws {
        let blocks = try Self.blocks("python", of: text("README.md"))
        #expect(blocks.count == 1)
        #expect(try blocks.first == text("examples/python/receive.py"))
    }

    @Test func theReadmesCommandsAreRunByCI() throws {
        let script = try text(".ci/run").split(separator: "\n").map {
            $0.trimmingPrefix { $0 == " " }.trimmingPrefix(#/within \d+ /#)
        }
        let commands = try Self.blocks("sh", of: text("README.md")).joined().split(separator: "\n")
        #expect(!commands.isEmpty)
        for command in commands where !command.hasPrefix("#") {
            #expect(script.contains { $0.hasPrefix(command) }, ".ci/run does not run: \(command)")
        }
    }

    /// Each command of the README's transcripts is run, and each line that they show is waited for.
    @Test func theReadmesTranscriptsAreTrue() throws {
        let transcripts = try Self.blocks("console", of: text("README.md"))
        #expect(!transcripts.isEmpty)
        for transcript in transcripts {
            let stage = try Stage()
            let shown = try CollectingPipe(on: stage)
            for line in transcript.split(separator: "\n").map(String.init) {
                if line.hasPrefix("$ ") {
                    let isBackground = line.hasSuffix(" &")
                    let command = line.dropFirst(2).dropLast(isBackground ? 2 : 0)
                    let shell = try stage.shell(
                        "exec 2>&1; exec \(command)", output: .descriptor(shown.writingNumber))
                    if !isBackground { try shell.expectEnd() }
                } else {
                    let next = try stage.wait(for: "'\(line)' of the README") {
                        shown.stream.take(upTo: UInt8(ascii: "\n"))
                    }
                    let text = String(decoding: next, as: UTF8.self)
                        .replacing("\(stage.socket)", with: "/run/user/1000/notification-broker/broker.sock")
                    #expect(text == line)
                }
            }
            #expect(shown.stream.untaken.isEmpty)
        }
    }

    /// The contents of Markdown's fenced blocks in that language.
    private static func blocks(_ language: String, of markdown: String) -> [String] {
        var blocks: [String] = []
        var isInside = false
        for line in markdown.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```\(language)" {
                blocks.append("")
                isInside = true
            } else if line.hasPrefix("```") {
                isInside = false
            } else if isInside {
                blocks[blocks.count - 1] += line + "\n"
            }
        }
        return blocks
    }
}
