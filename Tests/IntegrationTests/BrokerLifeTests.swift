import TestSupport
import Testing
import UnixIO

/// `notification-broker` as a command: how it starts, what it leaves alone, how it ends.
@Suite(.ownThreads) struct BrokerLifeTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    private func exists(_ path: Path) -> Bool { (try? FileStatus(of: path, followingLinks: false)) != nil }

    @Test func itSaysWhenItListens() throws {
        let broker = try stage.start("notification-broker", "run")
        try broker.errorLine("notification-broker: listening on \(stage.socket)")
        try stage.send("-q", "x")
        try broker.send(.terminate)
        try broker.expectEnd(output: "")
        #expect(broker.errorText == "notification-broker: listening on \(stage.socket)\n")
    }

    @Test func termAndInterruptEndItInGoodOrder() throws {
        for signal in [Signal.terminate, .interrupt] {
            let broker = try stage.broker()
            let client = try stage.client()
            try client.request(#"{"type":"addObserver","id":1,"observer":"o"}"#)
            let receiver = try stage.receiver("--no-reconnect")
            try stage.send("-l", input: .bytes(Array(String(repeating: "x\n", count: 2000).utf8)))
            try broker.send(signal)
            try broker.expectEnd(0, within: 4)
            #expect(!exists(stage.socket))
            #expect(try receiver.status() == 69)
            #expect(receiver.outputText.utf8.count { $0 == UInt8(ascii: "\n") } == 2001)
            #expect(try client.frame("goodbye")["reason"] == .string("shutting-down"))
            try client.expectEnd()
        }
    }

    @Test func aSecondTermEndsItAtOnce() throws {
        let broker = try stage.broker()
        let client = try stage.client()
        try client.request(#"{"type":"ping","id":1}"#)
        // A receiver that takes nothing keeps it draining.
        let receiver = try stage.receiver()
        try receiver.send(.stop)
        let line = String(repeating: "x", count: 200_000) + "\n"
        try stage.send("-ql", input: .bytes(Array(String(repeating: line, count: 5).utf8)))
        try broker.send(.terminate)
        // Only one signal of a kind can be pending: the second is sent when the first has been seen.
        try client.frame("goodbye")
        try broker.send(.terminate)
        let started = MonotonicClock.now()
        #expect(try broker.status(within: 4) != 0)
        #expect(MonotonicClock.now() - started < 1_000_000_000)
    }

    @Test func aStaleSocketIsTakenOver() throws {
        let broker = try stage.broker()
        try broker.send(.kill)
        _ = try broker.status()
        #expect(exists(stage.socket))
        try stage.broker()
        let receiver = try stage.receiver("-c", "1")
        try stage.send("x")
        try receiver.expectEnd(output: "NO DATA\nReceived data: x\n")
    }

    @Test func aLivingBrokerIsLeftAlone() throws {
        try stage.broker()
        let receiver = try stage.receiver("-c", "1")
        try stage.start("notification-broker").expectFailure(69, "\(stage.socket)", within: 5)
        try stage.send("still here")
        try receiver.expectEnd(output: "NO DATA\nReceived data: still here\n")
    }

    @Test func ofManyAtOnceOnAStaleSocketOneServes() throws {
        let dead = try stage.broker()
        try dead.send(.kill)
        _ = try dead.status()
        for _ in 0..<5 {
            let brokers = try (0..<3).map { _ in try stage.start("notification-broker") }
            let losers = try stage.wait(for: "two that give up") {
                let ended = try brokers.filter { try !$0.isRunning }
                return ended.count == 2 ? ended : nil
            }
            for loser in losers { try loser.expectFailure(69) }
            try stage.send("-qb", "x")
            for broker in brokers where try broker.isRunning {
                try broker.send(.kill)
                _ = try broker.status()
            }
        }
    }

    @Test func whatIsNoSocketStays() throws {
        try stage.file("file", "precious".utf8)
        for script in ["mkdir $HOME/folder", "ln -s nowhere $HOME/link", "mkfifo $HOME/pipe"] {
            try stage.shell(script).expectEnd()
        }
        for name in ["file", "folder", "link", "pipe"] {
            try stage.start("notification-broker", "-S", "\(stage.path(name))")
                .expectFailure(73, "\(stage.path(name))", within: 5)
            #expect(exists(stage.path(name)))
        }
        #expect(try stage.contents("file") == "precious")
    }

    @Test func modesWhateverTheUmask() throws {
        for (umask, arguments, wanted) in [
            ("000", "", 0o600), ("077", "--socket-mode 0660", 0o660), ("022", "", 0o600),
        ] as [(String, String, UInt32)] {
            let path = stage.path("new\(umask)/deeper/broker.sock")
            let broker = try stage.shell("umask \(umask); exec notification-broker -S \(path) \(arguments)")
            try broker.errorLine("listening on ")
            #expect(try FileStatus(of: path, followingLinks: false).mode == wanted)
            for directory in [path.parent, path.parent.parent] {
                #expect(try FileStatus(of: directory, followingLinks: false).mode == 0o700)
            }
            try broker.send(.terminate)
            try broker.expectEnd()
        }
    }

    @Test func aFolderThatOthersMayWriteIsRefused() throws {
        for mode in ["777", "770", "1777"] {
            try stage.shell("chmod \(mode) $HOME").expectEnd()
            try stage.start("notification-broker").expectFailure(77, within: 5)
        }
        try stage.shell("chmod 700 $HOME").expectEnd()
        try stage.broker()
    }

    @Test func theServiceManagerIsTold() throws {
        let manager = try DatagramSocket(at: stage.path("notify"), on: stage)
        var environment = stage.environment
        environment["NOTIFY_SOCKET"] = "\(stage.path("notify"))"
        let broker = try stage.start("notification-broker", environment: environment)
        try manager.expect("READY=1")
        try stage.send("-q", "x")
        #expect(try broker.isRunning)
    }

    @Test func aPassedSocketIsServedAndStays() throws {
        let listener = try ListeningSocket(at: stage.socket, mode: 0o600)
        let early = try stage.start("send-data", "-q", "early")
        let broker = try stage.start(
            "/bin/sh",
            bytes: ["-c", "LISTEN_PID=$$ LISTEN_FDS=1 exec notification-broker"].map { Array($0.utf8) },
            passing: [(listener.number, 3)])
        try early.expectEnd()
        try broker.send(.terminate)
        try broker.expectEnd(within: 5)
        #expect(exists(stage.socket))
    }

    @Test func pathTellsWhereWithoutABroker() throws {
        try stage.start("notification-broker", "path").expectEnd(output: "\(stage.socket)\n")
        try stage.start("notification-broker", "path", "-S", "/x/y").expectEnd(output: "/x/y\n")
        var environment = stage.environment
        environment["NOTIFICATION_BROKER_SOCKET"] = ""
        environment["XDG_RUNTIME_DIR"] = "\(stage.directory.path)"
        try stage.start("notification-broker", "path", environment: environment)
            .expectEnd(output: "\(stage.directory.path)/notification-broker/broker.sock\n")
    }

    @Test func statusTellsFiguresAndClients() throws {
        let broker = try stage.broker()
        let receiver = try stage.receiver()
        let sender = try stage.start("send-data", "-lp", input: .open)
        for number in 1...3 {
            try sender.write("\(number)\n")
            try receiver.expectLine("Received data: \(number)")
        }
        let json = try stage.start("notification-broker", "status", "--json")
        try json.expectEnd()
        #expect(json.outputText.filter(\.isNewline).count == 1)
        let status = try JSONValue(parsing: json.outputText.utf8)
        #expect(status["type"] == .string("status"))
        #expect(status["pid"]?.int == Int(broker.pid))
        #expect([status["observers"]?.int, status["posted"]?.int, status["delivered"]?.int] == [1, 3, 3])
        let clients = status["clients"]?.values ?? []
        let mine = clients.first { $0["pid"]?.int == Int(receiver.pid) }
        #expect([mine?["observers"]?.int, mine?["delivered"]?.int] == [1, 3])
        #expect(clients.first { $0["pid"]?.int == Int(sender.pid) }?["posted"]?.int == 3)
        let table = try stage.start("notification-broker", "status")
        try table.expectEnd()
        for pid in [broker.pid, receiver.pid, sender.pid] { #expect(table.outputText.contains("\(pid)")) }
        #expect(table.outputText.filter(\.isNewline).count >= 3 && !table.outputText.hasPrefix("{"))
        #expect(table.outputText.split(separator: "\n").allSatisfy { !$0.contains("\u{1B}") })
    }

    @Test func stopReturnsWhenItHasEnded() throws {
        let broker = try stage.broker()
        let receiver = try stage.receiver("--no-reconnect")
        try stage.start("notification-broker", "stop").expectEnd()
        #expect(!exists(stage.socket))
        #expect(try broker.status(within: 0.5) == 0)
        #expect(try receiver.status() == 69)
    }

    @Test func theLogHoldsNoPayloadAndNoForgedLine() throws {
        let broker = try stage.broker("--verbose")
        let receiver = try stage.receiver("-n", "secret-name", "-c", "1")
        try stage.send("-n", "secret-name", "-o", "secret-object", "secret-data")
        try receiver.expectEnd()
        let client = try stage.client()
        try client.send(
            #"{"type":"hello","id":1,"protocol":1,"client":"evil\nnotification-broker: listening on /x"}"#)
        try client.frame("welcome")
        try client.request(
            #"{"type":"post","id":1,"name":"secret-name","userInfo":{"data":"secret-data"}x"#, answer: "error"
        )
        try broker.send(.terminate)
        try broker.expectEnd()
        #expect(!broker.errorText.contains("secret"))
        #expect(broker.errorLines.count > 2, "it logs every connection")
        for line in broker.errorLines { #expect(line.hasPrefix("notification-broker: ")) }
        #expect(broker.errorLines.filter { $0.hasPrefix("notification-broker: listening") }.count == 1)
        let quiet = try stage.start("notification-broker", "--quiet")
        try stage.send("-qb", "x")
        try quiet.send(.terminate)
        try quiet.expectEnd()
        #expect(quiet.errorText == "")
    }

    @Test func itOutlivesClientsThatVanish() throws {
        let broker = try stage.broker()
        for _ in 0..<3 { try stage.receiver().send(.kill) }
        try stage.connectWriteAndClose([0, 0, 1, 0] + Array("{\"type\":".utf8))
        try stage.connectWriteAndClose(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        let receiver = try stage.receiver("-c", "1")
        try stage.send("x")
        try receiver.expectEnd(output: "NO DATA\nReceived data: x\n")
        #expect(try broker.isRunning)
    }

    @Test func connectionsBeyondTheLimitAreRefused() throws {
        try stage.broker("--max-connections", "2")
        let first = try stage.client()
        let second = try stage.client()
        try first.request(#"{"type":"ping","id":1}"#)
        try second.request(#"{"type":"ping","id":1}"#)
        let third = try stage.client()
        #expect(try third.frame()["reason"] == .string("refused"))
        try third.expectEnd()
        try stage.start("receive-data").expectFailure(77)
    }
}
