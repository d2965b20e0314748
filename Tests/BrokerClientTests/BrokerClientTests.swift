import ClientCore
import Endpoint
import TestSupport
import Testing
import UnixIO
import WireProtocol

@testable import BrokerClient

@Suite(.ownThreads) struct BrokerClientTests {
    private let limit = WaitLimit(deadline: soon())

    @Test func aRequestGetsItsAnswerWhateverComesBefore() throws {
        let broker = try ScriptedBroker()
        let client = BrokerClient(broker.place)
        try client.connect()
        var peer = try broker.accept()
        let request = client.session.send(Post(name: "A"), at: 0)
        try peer.send(#"{"type":"novelty"}"#)
        try peer.send(#"{"type":"gap","count":1,"first":1,"last":1}"#)
        try peer.send(#"{"type":"ok","id":1,"seq":9,"receivers":2}"#)
        let receipt = try client.acknowledgement(of: request, until: limit)
        #expect(receipt.seq == 9)
        #expect(receipt.receivers == 2)
        #expect(try peer.frame() == #"{"type":"post","id":1,"name":"A"}"#)
    }

    @Test func whatCameBeforeTheEndIsToldBeforeIt() throws {
        let broker = try ScriptedBroker()
        let client = BrokerClient(broker.place)
        try client.connect()
        do {
            let peer = try broker.accept()
            try peer.send(#"{"type":"gap","count":7,"first":1,"last":7}"#)
            try peer.send(#"{"type":"goodbye","reason":"shutting-down","message":"bye"}"#)
        }
        var told: [String] = []
        while true {
            while let event = client.nextEvent() {
                switch event {
                case .gap(let gap): told.append("gap \(gap.count)")
                case .goodbye(let goodbye): told.append(goodbye.message)
                default: told.append("?")
                }
            }
            if case .ended(let end, .closed) = try client.wait(until: soon()) {
                #expect(end.goodbye?.reason == .shuttingDown)
                break
            }
        }
        #expect(told == ["gap 7", "bye"])
    }

    @Test func bytesThatComeOneByOneMakeTheSameFrames() throws {
        let broker = try ScriptedBroker()
        let client = BrokerClient(broker.place)
        try client.connect()
        let peer = try broker.accept()
        let ping = client.session.ping()
        let request = try #require(ping)
        for byte in FrameClient.frame(#"{"type":"ok","id":1}"#).dropLast() {
            try peer.send(raw: [byte])
            #expect(client.nextEvent() == nil)
            while case .progress = try client.wait(until: 0) {}
        }
        try peer.send(raw: [UInt8(ascii: "}")])
        #expect(try client.acknowledgement(of: request, until: limit).id == 1)
    }

    @Test(arguments: [
        "HTTP/1.1 400 Bad Request\r\n\r\n", "\0\0\0\0", "\0\0\0\u{2}[]", "\0\0\0\u{4}nope",
        "\0\0\0\u{2}{}", "\0\0\0\u{8}{\"a\":1}x", "\0\0\0\u{D}{\"type\":\"ok\"}",
    ])
    func whatIsNoProtocolEndsTheConnection(_ text: String) throws {
        let broker = try ScriptedBroker()
        let client = BrokerClient(broker.place)
        try client.connect()
        let peer = try broker.accept()
        try peer.send(raw: Array(text.utf8))
        var ended: BrokerClient.Cause?
        while ended == nil {
            #expect(client.nextEvent() == nil)
            if case .ended(_, let cause) = try client.wait(until: soon()) { ended = cause }
        }
        guard case .violation = ended else { throw TestFailure("\(text.debugDescription): \(ended as Any)") }
        withExtendedLifetime(peer.socket.number) {}
    }

    /// Neither side reads before it has written all: the client has to do both at once.
    @Test func twoFullBuffersDoNotLock() throws {
        let broker = try ScriptedBroker()
        let client = BrokerClient(broker.place)
        try client.connect()
        var peer = try broker.accept()
        let total = 4 << 20
        let text = String(repeating: "x", count: 1 << 16)
        for _ in 0..<(total >> 16) { client.session.post(Post(name: "A", object: text), at: 0) }
        let length = client.session.unsentCount
        let flood = FrameClient.frame(#"{"type":"novelty","more":"\#(text)"}"#)
        var toSend = Array(repeatElement(flood, count: total >> 16).joined())[...]
        let end = soon()
        while !toSend.isEmpty || client.session.unsentCount > 0 || peer.receivedCount < length {
            #expect(MonotonicClock.now() < end)
            #expect(client.nextEvent() == nil)
            _ = try client.wait(until: 0)
            if !toSend.isEmpty {
                if case .bytes(let count) = toSend.withUnsafeBytes({ peer.socket.write($0) }) {
                    toSend = toSend.dropFirst(count)
                }
            } else {
                _ = try peer.readOnce()
            }
        }
        #expect(peer.receivedCount == length)
    }

    /// The broker closes with our bytes unread, which cuts the connection off; what it has said is heard all the same.
    @Test func whyTheBrokerClosedIsHeardThroughAReset() throws {
        let broker = try ScriptedBroker()
        let client = BrokerClient(broker.place)
        try client.connect()
        let request = client.session.send(
            Post(name: "A", object: String(repeating: "x", count: 1 << 20)), at: 0)
        do {
            let peer = try broker.accept()
            _ = try client.wait(until: 0)
            try peer.send(#"{"type":"error","code":"frame-too-large","message":"65536 bytes"}"#)
        }
        do throws(ClientFailure) {
            _ = try client.acknowledgement(of: request, until: limit)
            Issue.record("it was accepted")
        } catch {
            guard case .refused(let refusal) = error else { throw error }
            #expect(refusal.code == .known(.frameTooLarge))
        }
    }

    @Test func otherDescriptorsAndTheDeadlineEndTheWait() throws {
        let broker = try ScriptedBroker()
        let client = BrokerClient(broker.place)
        try client.connect()
        let pipe = try Pipe()
        client.watched = [PollEntry(pipe.reading.number, .readable)]
        guard case .deadline = try client.wait(until: MonotonicClock.now()) else {
            throw TestFailure("no deadline")
        }
        _ = Streams.writeAll("x", to: pipe.writing)
        guard case .watched = try client.wait(until: soon()) else { throw TestFailure("not watched") }
        #expect(client.watched[0].readiness == .readable)
    }

    @Test func itComesBackWithItsObservers() throws {
        let broker = try ScriptedBroker()
        let client = BrokerClient(broker.place, greeting: "g")
        client.reconnects = true
        try client.connect()
        _ = client.session.observe(Observation(.name("A")))
        for round in 1...2 {
            var peer = try broker.accept()
            while case .progress = try client.wait(until: MonotonicClock.now()) {}
            #expect(try peer.frame() == #"{"type":"hello","id":\#(round * 2 - 1),"protocol":1,"client":"g"}"#)
            #expect(
                try peer.frame() == #"{"type":"addObserver","id":\#(round * 2),"observer":"1","name":"A"}"#)
            peer.socket.shutdownWriting()
            guard case .ended(_, .closed) = try client.wait(until: soon()) else {
                throw TestFailure("no end")
            }
            guard case .connected = try client.wait(until: soon()) else { throw TestFailure("not again") }
        }
    }

    @Test func whatIsPostedAfterTheGoodbyeWaitsForTheNextConnection() throws {
        let broker = try ScriptedBroker()
        let client = BrokerClient(broker.place)
        client.reconnects = true
        try client.connect()
        let peer = try broker.accept()
        try peer.send(#"{"type":"goodbye","reason":"shutting-down","message":"bye"}"#)
        var event: ClientEvent?
        while event == nil {
            _ = try client.wait(until: soon())
            event = client.nextEvent()
        }
        client.session.post(Post(name: "Late"), at: 0)
        peer.socket.shutdownWriting()
        var turns = 0
        while client.unsentCount > 0 {
            _ = try client.wait(until: soon())
            turns += 1
            #expect(turns < 100)
        }
        var next = try broker.accept()
        #expect(try next.frame() == #"{"type":"post","name":"Late"}"#)
    }

    @Test func whoIsRefusedDoesNotComeBack() throws {
        let broker = try ScriptedBroker()
        let client = BrokerClient(broker.place)
        client.reconnects = true
        try client.connect()
        let peer = try broker.accept()
        try peer.send(#"{"type":"goodbye","reason":"refused","message":"full"}"#)
        peer.socket.shutdownWriting()
        var next: ConnectionEnd.NextStep?
        while next == nil {
            _ = client.nextEvent()
            if case .ended(let end, _) = try client.wait(until: soon()) { next = end.next }
        }
        #expect(next == .stayAway)
        guard case .deadline = try client.wait(until: MonotonicClock.now() + 1_000_000) else {
            throw TestFailure("it came back")
        }
    }

    @Test func withoutABrokerItFailsOrWaitsAsLongAsItShall() throws {
        let directory = try TemporaryDirectory()
        let client = BrokerClient(SocketPath(directory.path.appending("none"), .given))
        try expect(#/endpoint\(no broker at/#) { () throws(ClientFailure) in
            try client.connect(waitingForBroker: false, until: limit)
        }
        try expect(#/gaveUp\(no broker at/#) { () throws(ClientFailure) in
            try client.connect(
                waitingForBroker: true, until: WaitLimit(deadline: MonotonicClock.now() + 20_000_000))
        }
        let pipe = try Pipe()
        _ = Streams.writeAll("x", to: pipe.writing)
        try expect(#/interrupted/#) { () throws(ClientFailure) in
            try client.connect(waitingForBroker: true, until: WaitLimit(alarm: pipe.reading.number))
        }
    }

    private func expect(
        _ pattern: Regex<Substring>, _ body: () throws(ClientFailure) -> Void
    ) throws {
        do throws(ClientFailure) {
            try body()
            Issue.record("no failure")
        } catch {
            #expect("\(error)".contains(pattern))
        }
    }
}

extension Streams {
    static func writeAll(_ text: String, to descriptor: borrowing Descriptor) -> WriteAllOutcome {
        let number = descriptor.number
        return Array(text.utf8).withUnsafeBytes { writeAll($0, to: number) }
    }
}
