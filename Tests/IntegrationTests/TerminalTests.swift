import TestSupport
import Testing
import UnixIO

/// On a terminal: the prompt, and control characters shown escaped.
@Suite(.ownThreads) struct TerminalTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    private func shows(_ terminal: Terminal, _ text: String) throws {
        _ = try stage.wait(
            for: "\(text.debugDescription) on the terminal, not \(terminal.text.debugDescription)"
        ) {
            terminal.text.contains(text) ? true : nil
        }
    }

    @Test func thePromptAsksForALine() throws {
        try stage.broker()
        let receiver = try stage.receiver("-c", "1")
        let terminal = try Terminal(on: stage)
        let sender = try stage.start(
            "send-data", input: .terminal(terminal), output: .terminal(terminal), errors: .terminal(terminal))
        try shows(terminal, "Input some data: ")
        terminal.type("typed here\n")
        try receiver.expectEnd(output: "NO DATA\nReceived data: typed here\n")
        try sender.expectEnd()
        #expect(terminal.text.hasPrefix("Input some data: "))
    }

    @Test func endOfFileAtThePrompt() throws {
        try stage.broker()
        let receiver = try stage.receiver("-c", "1")
        let terminal = try Terminal(on: stage)
        let sender = try stage.start("send-data", input: .terminal(terminal), errors: .terminal(terminal))
        try shows(terminal, "Input some data: ")
        terminal.type("\u{4}")
        try receiver.expectEnd(output: "NO DATA\nReceived data: Nothing left to say\n")
        try sender.expectEnd(output: "")
    }

    @Test func noPromptWithoutATerminalOrWithData() throws {
        try stage.broker()
        let terminal = try Terminal(on: stage)
        try stage.start(
            "send-data", "-q", input: .bytes(Array("x\n".utf8)), output: .terminal(terminal),
            errors: .terminal(terminal)
        ).expectEnd()
        try stage.start("send-data", "-q", "x", input: .terminal(terminal), errors: .terminal(terminal))
            .expectEnd()
        try stage.start("send-data", "-ql", input: .bytes([]), errors: .terminal(terminal)).expectEnd()
        try stage.expect("nothing is shown", during: 0.1) { terminal.text.isEmpty }
    }

    @Test func controlCharactersAreShownEscaped() throws {
        try stage.broker()
        let wild = "\u{1B}[31mred\u{7}\u{7F}\u{9B}2J\u{202E}\u{2066}\nReceived data: forged\r\t😀éא"
        let shown =
            #"\u{1B}[31mred\u{7}\u{7F}\u{9B}2J\u{202E}\u{2066}\u{A}Received data: forged\u{D}\u{9}😀éא"#
        for (format, line) in [("label", "Received data: \(shown)\r\n"), ("data", "\(shown)\r\n")] {
            let terminal = try Terminal(on: stage)
            let receiver = try stage.start(
                "receive-data", "-f", format, "-c", "1", output: .terminal(terminal))
            try stage.awaitObservers()
            try stage.send(wild)
            try receiver.expectEnd()
            try shows(terminal, line)
        }
    }

    @Test func jsonStaysJSON() throws {
        try stage.broker()
        let terminal = try Terminal(on: stage)
        let receiver = try stage.start("receive-data", "-f", "json", "-c", "1", output: .terminal(terminal))
        try stage.awaitObservers()
        try stage.send("-o", "\u{9B}0m", "-u", "{\t\"data\":\n\"\u{9B}2J\u{7F}\\u001b[31m\u{202E}é\"}")
        try receiver.expectEnd()
        try shows(terminal, "\r\n")
        #expect(terminal.text.contains(#""\u009b2J\u007f\u001b[31m\u202eé""#), "\(terminal.text)")
        let frame = try JSONValue(parsing: terminal.text.utf8)
        #expect(frame["object"] == .string("\u{9B}0m"))
        #expect(frame["userInfo"]?["data"] == .string("\u{9B}2J\u{7F}\u{1B}[31m\u{202E}é"))
        let other = try Terminal(on: stage)
        let label = try stage.start("receive-data", "-c", "1", output: .terminal(other))
        try stage.awaitObservers()
        try stage.send("-u", "{\"data\":[\"\u{9B}2J\u{7F}\"]}")
        try label.expectEnd()
        try shows(other, "2J")
        #expect(!other.text.unicodeScalars.contains { $0 == "\u{9B}" || $0 == "\u{7F}" })
    }
}
