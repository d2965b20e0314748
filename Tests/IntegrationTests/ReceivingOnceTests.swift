import TestSupport
import Testing
import UnixIO

/// What a receiver shows once though it comes more than once, and what it notices while nothing comes at all.
@Suite(.ownThreads) struct ReceivingOnceTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    @Test func aRetainedOneThatSeveralFiltersMatch() throws {
        try stage.broker()
        try stage.send("-rq", "kept")
        let receiver = try stage.start(
            "receive-data", "-a", "-n", "DataNotification", "-m", "Data*", "-c", "2", "-f", "data")
        try receiver.expectLine("kept")
        try stage.awaitObservers()
        try stage.send("new")
        try receiver.expectEnd(output: "kept\nnew\n")
    }

    @Test func aRetainedOneThatComesAgain() throws {
        let fake = try stage.fakeBroker()
        let receiver = try stage.start("receive-data", "-f", "data", "-c", "3")
        for seqs in [[4], [4, 6], [6, 7]] {
            let peer = try fake.accept()
            let label = try peer.acceptObserver()["observer"]?.text ?? ""
            for seq in seqs {
                try peer.send(
                    #"{"type":"notification","seq":\#(seq),"time":1,"name":"DataNotification","#
                        + #""retained":true,"observer":"\#(label)","userInfo":{"data":"\#(seq)"}}"#)
            }
            try receiver.expectLine("\(seqs.last ?? 0)")
        }
        try receiver.expectEnd(output: "4\n6\n7\n")
    }

    /// The second observer's answer comes after what is retained for the first.
    @Test func nothingIsShownBeforeAllIsObserved() throws {
        let fake = try stage.fakeBroker()
        let receiver = try stage.start("receive-data", "-n", "A", "-n", "B", "-c", "1")
        let peer = try fake.accept()
        let label = try peer.acceptObserver()["observer"]?.text ?? ""
        try peer.send(
            #"{"type":"notification","seq":1,"time":1,"name":"A","retained":true,"observer":"\#(label)","#
                + #""userInfo":{"data":"x"}}"#)
        let second = try peer.frame()
        try stage.expect("nothing is shown", during: 0.2) { receiver.output.bytes.isEmpty }
        try peer.answer(second)
        try receiver.expectEnd(output: "NO DATA\nReceived data: x\n")
    }

    @Test func aClosedOutputIsNoticedWithoutABroker() throws {
        let pipe = try Pipe()
        let receiver = try stage.start("receive-data", "-b", output: .descriptor(pipe.writing.number))
        _ = consume pipe
        try receiver.expectEnd(within: 3)
    }

    @Test func waitingForABrokerEndsAsAsked() throws {
        try stage.start("receive-data", "-b", "-t", "0.2").expectFailure(75, "gave up waiting")
        try stage.start("receive-data", "-bc", "1", "-t", "0.2").expectFailure(75, "gave up waiting")
        try stage.start("receive-data", "-t", "0").expectFailure(69, "\(stage.socket)")
        let receiver = try stage.start("receive-data", "-b")
        try stage.expect("it waits", during: 0.2) { try receiver.isRunning }
        try receiver.send(.terminate)
        try receiver.expectEnd(143, within: 3)
    }
}
