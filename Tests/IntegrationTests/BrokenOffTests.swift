import TestSupport
import Testing
import UnixIO

/// Lines whose sending is broken off, or only paused.
@Suite(.ownThreads) struct BrokenOffTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    /// Nothing is answered on its connection for several times its patience, but the broker lives: it answers others.
    @Test func aPausedSenderIsNotGivenUp() throws {
        let fake = try stage.fakeBroker()
        let sender = try stage.start("send-data", "-l", "-t", "1", input: .bytes(Array("a\nb\n".utf8)))
        let peer = try fake.accept()
        for _ in 0..<3 {
            let probe = try fake.accept()
            let ping = try probe.frame()
            #expect(ping["type"] == .string("ping"))
            try probe.answer(ping)
        }
        #expect(try sender.isRunning)
        try peer.acceptPost(seq: 1)
        try peer.acceptPost(seq: 2)
        try sender.expectEnd()
    }

    @Test func aHungBrokerIsGivenUpWithTheCount() throws {
        let fake = try stage.fakeBroker()
        let sender = try stage.start("send-data", "-l", "-t", "1", input: .bytes(Array("a\nb\nc\n".utf8)))
        let peer = try fake.accept()
        try peer.acceptPost(seq: 1)
        try peer.acceptPost(seq: 2)
        try sender.expectFailure(75, "2 lines were accepted, 1 more may still be delivered")
    }

    @Test func aSignalIsObeyedWhenTheAnswersAreIn() throws {
        let fake = try stage.fakeBroker()
        for (signal, status) in [(Signal.terminate, 143), (.interrupt, 130)] as [(Signal, Int32)] {
            let sender = try stage.start("send-data", "-lq", input: .open)
            let peer = try fake.accept()
            try sender.write("a\nb\n")
            try peer.acceptPost(seq: 1)
            let second = try peer.frame()
            try sender.send(signal)
            try peer.answer(second, #","seq":2,"receivers":1"#)
            try sender.expectFailure(status, "2 lines were accepted", within: 5)
            #expect(!sender.errorText.contains("more"))
        }
    }

    @Test func aRefusedLineEndsTheSendingButNotTheCount() throws {
        let fake = try stage.fakeBroker()
        let sender = try stage.start("send-data", "-l", input: .bytes(Array("a\nb\nc\n".utf8)))
        let peer = try fake.accept()
        try peer.acceptPost(seq: 1)
        let refused = try peer.frame()["id"]?.int ?? 0
        try peer.send(#"{"type":"error","id":\#(refused),"code":"limit-exceeded","message":"no room"}"#)
        try peer.acceptPost(seq: 2)
        try sender.expectFailure(65, "line 2: the broker refused it: no room; 2 lines were accepted")
    }

    @Test func aLineTooLongForTheBrokerIsNamed() throws {
        try stage.broker("--frame-bytes", "64K")
        let lines = "a\nb\n" + String(repeating: "x", count: 100_000) + "\nd\n"
        let sender = try stage.start("send-data", "-l", input: .bytes(Array(lines.utf8)))
        try sender.expectFailure(65, "line 3: ")
        #expect(sender.errorText.hasSuffix("2 lines were accepted\n"), "\(sender.errorText)")
        #expect(try stage.status()["posted"]?.int == 2)
    }

    @Test func receiptsThatCannotBePrintedEndIt() throws {
        try stage.broker()
        let sender = try stage.start(
            "send-data", "-lp", input: .bytes(Array("a\n".utf8)), output: .file("/dev/full"))
        try sender.expectFailure(74, "1 line was accepted")
    }
}
