import TestSupport
import Testing
import UnixIO

/// Where `send-data` takes its data from, and what it posts.
@Suite(.ownThreads) struct SendDataTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    /// The one post that `send-data` makes with these arguments.
    private func posted(_ arguments: String..., input: ToolProcess.Input = .none) throws -> JSONValue {
        try JSONValue(parsing: try postedBytes(arguments, input: input))
    }

    private func postedBytes(_ arguments: [String], input: ToolProcess.Input = .none) throws -> [UInt8] {
        let fake = try stage.fakeBroker()
        let sender = try stage.start("send-data", bytes: arguments.map { Array($0.utf8) }, input: input)
        let peer = try fake.accept()
        let post = try peer.acceptPostBytes(seq: 1)
        try sender.expectEnd(output: "")
        try peer.expectEnd()
        return post
    }

    private func data(_ arguments: String..., input: ToolProcess.Input = .none) throws -> String? {
        let post = try JSONValue(parsing: try postedBytes(arguments, input: input))
        return post["userInfo"]?["data"]?.text
    }

    private func bytes(_ text: String) -> ToolProcess.Input { .bytes(Array(text.utf8)) }

    @Test func aPlainSend() throws {
        let post = try posted("x")
        #expect(post["name"] == .string("DataNotification"))
        #expect(post["userInfo"] == .object([.init(key: "data", value: .string("x"))]))
        #expect(post["object"] == nil || post["object"] == .null)
        #expect(post["retain"] == nil || post["retain"] == .bool(false))
        #expect(post["id"]?.int != nil, "an answer is asked for")
    }

    @Test func oneLineOfStandardInput() throws {
        #expect(try data(input: bytes("first\nsecond\n")) == "first")
    }

    @Test func noLineAtAll() throws { #expect(try data(input: .none) == "Nothing left to say") }

    @Test func anEmptyLine() throws { #expect(try data(input: bytes("\n")) == "") }

    @Test func aLineWithoutItsNewline() throws { #expect(try data(input: bytes("end\r")) == "end\r") }

    @Test func anEmptyArgument() throws { #expect(try data("", input: bytes("not this\n")) == "") }

    @Test func whatFollowsTheDashesIsData() throws { #expect(try data("--", "--lines") == "--lines") }

    @Test func aLoneDashIsData() throws { #expect(try data("-") == "-") }

    @Test func aWholeFile() throws {
        let path = try stage.file("text", "one\n\0two\r\n".utf8)
        #expect(try data("--file=\(path)") == "one\n\0two\r\n")
    }

    @Test func allOfStandardInput() throws { #expect(try data("-f", "-", input: bytes("a\nb")) == "a\nb") }

    @Test func nameObjectKeyAndFlags() throws {
        let post = try posted("-iqn", "My \"Name\"", "-oob\\ject", "--key", "a\"k", "--retain", "v")
        #expect(post["name"] == .string("My \"Name\""))
        #expect(post["object"] == .string("ob\\ject"))
        #expect(post["userInfo"] == .object([.init(key: "a\"k", value: .string("v"))]))
        #expect(post["deliverImmediately"] == .bool(true))
        #expect(post["retain"] == .bool(true))
    }

    @Test func clearing() throws {
        let post = try posted("--clear", "-n", "N", "-o", "o")
        #expect(post["retain"] == .string("clear"))
        #expect(post["name"] == .string("N"))
        #expect(post["object"] == .string("o"))
        #expect(post["userInfo"] == nil || post["userInfo"] == .null)
    }

    @Test func userInfoGoesByteForByte() throws {
        let info =
            "{ \"z\":1.0,\n \"a\": [1e400, -0, 1E5,\"\\u0041\\/\"],\"a\":0.10 ,\t\"big\":18446744073709551615}"
        let post = String(decoding: try postedBytes(["-u", info]), as: UTF8.self)
        #expect(post.contains(info), "\(post)")
    }

    @Test func userInfoCanAddNothingToTheFrame() throws {
        try stage.broker()
        for info in [
            "", "{", "nonsense", "{\"a\":1,}", "[1]", "\"text\"", "{\"a\":NaN}", "{\"a\":1} {}",
            "{\"a\":\"\\ud800\"}",
            "{},\"retain\":true", "{}},{\"a\":{}", "{\"a\":\"line\nbreak\"}",
            "{\"a\":" + String(repeating: "[", count: 127) + String(repeating: "]", count: 127) + "}",
        ] {
            try stage.start("send-data", "-u", info).expectFailure(65)
        }
        let status = try stage.status()
        #expect(status["posted"]?.int == 0)
        #expect(status["retained"]?.int == 0)
    }

    @Test func everyLineIsANotification() throws {
        try stage.broker()
        let receiver = try stage.start("receive-data", "-f", "data", "-0", "-c", "7")
        try stage.awaitObservers()
        try stage.send("-l", input: bytes("a\n\n\nb c\r\n\0\n\nlast"))
        try receiver.expectEnd(output: "a\0\0\0b c\r\0\0\0\0last\0")
        try stage.send("--lines", input: .none)
        #expect(try stage.status()["posted"]?.int == 7)
    }

    @Test func linesAreSentAsTheyCome() throws {
        try stage.broker()
        let receiver = try stage.receiver()
        let sender = try stage.start("send-data", "-lp", input: .open)
        for (index, word) in ["one", "two"].enumerated() {
            try sender.write(word + "\n")
            try receiver.expectLine("Received data: " + word)
            let receipt = try JSONValue(parsing: try sender.line().utf8)
            #expect(receipt["type"] == .string("ok"))
            #expect(receipt["seq"]?.int == index + 1)
            #expect(receipt["receivers"]?.int == 1)
        }
        sender.closeInput()
        try sender.expectEnd()
    }

    @Test func textOfEveryKindArrivesAsItWas() throws {
        let texts = [
            "", " ", "\ttab\t", "two\nlines\n", "\"quotes\" \\ / \\u0041", "é e\u{301}", "👩‍👩‍👧‍👦 🏳️‍🌈",
            "שלום \u{202E}x",
            "\u{2028}\u{85}\u{FEFF}", "\u{1}\u{8}\u{B}\u{1B}[31m\u{7F}\u{80}\u{9F}", "\u{10FFFF}\u{FFFF}",
            "NO DATA",
            "null", "{\"data\":1}", "%s $HOME `id`",
        ]
        try stage.broker()
        let receiver = try stage.start("receive-data", "-f", "data", "-0")
        try stage.awaitObservers()
        for text in texts {
            try stage.send("--", text)
            #expect(try receiver.line(end: 0) == text)
        }
        let big = String(repeating: "0123456789 äöü€😀\\\"\t", count: 50_000)
        try stage.send("-f", "\(stage.file("big", big.utf8))")
        #expect(try receiver.line(end: 0) == big)
        try stage.send("-l", input: bytes(big + "\n"))
        #expect(try receiver.line(end: 0) == big)
    }

    @Test func whatIsNoUTF8IsRefused() throws {
        try stage.broker()
        for bad in [[0xFF], [0x63, 0xE9], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]]
            as [[UInt8]]
        {
            try stage.start("send-data", bytes: [bad]).expectFailure(65)
        }
        let bad: [UInt8] = [0x63, 0xE9, 0x0A]
        try stage.start("send-data", input: .bytes(bad)).expectFailure(65)
        try stage.start("send-data", "-f", "-", input: .bytes(bad)).expectFailure(65)
        try stage.start("send-data", "-f", "\(stage.file("bad", bad))").expectFailure(65)
        try stage.start("send-data", bytes: [Array("-k".utf8), bad, [0x78]]).expectFailure(65)
        try stage.start(
            "send-data", bytes: [Array("-u".utf8), Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8)]
        )
        .expectFailure(65)
        #expect(try stage.status()["posted"]?.int == 0)
        let some = Array("good\n".utf8)
        let sender = try stage.start("send-data", "-ql", input: .bytes(some + some + [0xFF, 0x0A] + some))
        try sender.expectFailure(65, "2")
        #expect(try stage.status()["posted"]?.int == 2)
    }

    @Test func filesThatCannotBeRead() throws {
        try stage.broker()
        try stage.start("send-data", "-f", "\(stage.path("absent"))").expectFailure(66, "absent")
        try stage.start("send-data", "--file", "\(stage.directory.path)").expectFailure(
            66, "\(stage.directory.path)")
        #expect(try stage.status()["posted"]?.int == 0)
    }

    @Test func nobodyReceivesIsAHint() throws {
        try stage.broker()
        let sender = try stage.send("lonely")
        #expect(sender.errorLines.count == 1 && sender.errorText.hasPrefix("send-data: "))
        #expect(try stage.send("-q", "lonely").errorText == "")
        #expect(try stage.send("--quiet", "lonely").errorText == "")
    }

    @Test func itWaitsForReceivers() throws {
        try stage.broker()
        let sender = try stage.start("send-data", "-w", "2", "-t", "0", "-n", "N", "x")
        let first = try stage.receiver("-n", "N", "-c", "1")
        try stage.expect("it waits for the second", during: 0.2) { try sender.isRunning }
        let second = try stage.receiver("-m", "N*", "-c", "1")
        for receiver in [first, second] { try receiver.expectEnd(output: "NO DATA\nReceived data: x\n") }
        try sender.expectEnd()
        let waiting = try stage.start("send-data", "-w", "1", "-t", "0.2", "-n", "other", "x")
        try waiting.expectFailure(75)
        #expect(!waiting.errorText.contains("still be delivered"))
    }

    @Test func itWaitsForABroker() throws {
        let sender = try stage.start("send-data", "-b", "-w", "1", "x")
        try stage.broker()
        let receiver = try stage.receiver("-c", "1")
        try receiver.expectEnd(output: "NO DATA\nReceived data: x\n")
        try sender.expectEnd()
        try stage.start("send-data", "-b", "-t", "0.2", "-S", "\(stage.path("none"))", "x").expectFailure(75)
    }
}

extension FrameClient {
    /// Answers all requests until a post comes; its bytes as they came.
    func acceptPostBytes(seq: Int) throws -> [UInt8] {
        while true {
            let bytes = try frameBytes()
            let frame = try JSONValue(parsing: bytes)
            try answer(frame, #","seq":\#(seq),"receivers":1"#)
            if frame["type"] == .string("post") { return bytes }
        }
    }
}
