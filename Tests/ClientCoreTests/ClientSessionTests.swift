import TestSupport
import Testing
import WireProtocol

@testable import ClientCore

@Suite struct ClientSessionTests {
    @Test func aConnectionBeginsWithHelloAndTheObserversInTheirOrder() throws {
        var session = ClientSession(greeting: "me")
        session.post(Post(name: "Early"), at: 0)
        _ = session.observe(Observation(.name("A"), object: "o", overflow: .drop))
        _ = session.observe(Observation(.matching("b.*")))
        session.connected(at: 0)
        #expect(
            session.takeAll() == [
                #"{"type":"hello","id":1,"protocol":1,"client":"me"}"#,
                #"{"type":"addObserver","id":2,"observer":"1","name":"A","object":"o","overflow":"drop"}"#,
                #"{"type":"addObserver","id":3,"observer":"2","match":"b.*"}"#,
                #"{"type":"post","name":"Early"}"#,
            ])
    }

    @Test func answersFindTheirRequests() throws {
        var session = ClientSession(greeting: nil)
        session.connected(at: 0)
        let first = session.send(Post(name: "A"), at: 0)
        let second = session.send(Post(name: "B"), at: 0)
        let asked = session.awaitObservers(of: "A", object: nil, count: 2)
        let third = try #require(asked)
        #expect(session.takeAll().count == 3)

        guard
            case .answered(third, .ok(let counted)) = try session.receive(
                #"{"type":"ok","id":3,"receivers":2}"#)
        else { throw Unexpected() }
        #expect(counted.receivers == 2)
        guard
            case .answered(first, .ok(let ok)) = try session.receive(
                #"{"type":"ok","id":1,"seq":7,"receivers":0}"#)
        else { throw Unexpected() }
        #expect(ok.seq == 7)
        let refusal = #"{"type":"error","id":2,"code":"novel","message":"no"}"#
        guard case .answered(second, .refused(let refused)) = try session.receive(refusal) else {
            throw Unexpected()
        }
        #expect(refused.code == .unknown("novel"))
        #expect(refused.message == "no")
        #expect(!session.awaitsAnswers)
        #expect(try session.receive(#"{"type":"ok","id":1}"#) == nil)
        #expect(try session.receive(#"{"type":"ok","id":999}"#) == nil)
        #expect(try session.receive(#"{"type":"novelty","id":1}"#) == nil)
    }

    @Test func requestsThatNeedAConnectionAreNoneWithoutOne() {
        var session = ClientSession(greeting: nil)
        #expect(session.ping() == nil)
        #expect(session.status(detail: true) == nil)
        #expect(session.stop() == nil)
        #expect(session.awaitObservers(of: "A", object: nil, count: 1) == nil)
        #expect(session.unsentCount == 0)
    }

    @Test func aPostThatWasTakenInPartIsSentAgainWhole() {
        var session = ClientSession(greeting: nil)
        session.connected(at: 0)
        session.post(Post(name: "A"), at: 0)
        let length = session.unsentCount
        session.post(Post(name: "B"), at: 0)
        _ = session.ping()
        session.kernelTook(length + 7)
        #expect(session.end().lost.map(\.outcome) == [.unanswered])
        session.connected(at: 0)
        #expect(session.takeAll() == [#"{"type":"post","name":"B"}"#])
    }

    @Test func aPostIsOfferedAtOnceWhereNothingElseWaits() {
        let first = Post(name: "A")
        var session = ClientSession(greeting: nil)
        var offered: [[UInt8]] = []
        func post(_ post: Post, taken: Int) {
            session.post(post, at: 0) {
                offered.append(Array($0))
                return taken
            }
        }
        post(first, taken: 0)
        #expect(offered.isEmpty, "without a connection")
        session.connected(at: 0)
        #expect(session.takeAll() == [#"{"type":"post","name":"A"}"#])
        post(first, taken: first.frame.count)
        #expect(offered == [first.frame])
        #expect(session.unsentCount == 0)
        post(Post(name: "B"), taken: 7)
        #expect(offered.count == 2)
        #expect(session.unsentCount == first.frame.count - 7)
        post(Post(name: "C"), taken: 1)
        #expect(offered.count == 2, "B waits")
        _ = session.end()
        session.connected(at: 0)
        #expect(session.takeAll() == [#"{"type":"post","name":"B"}"#, #"{"type":"post","name":"C"}"#])
    }

    @Test func aSendThatWasTakenWholeEndsWithAnUnknownOutcomeAndOtherSendsWait() throws {
        var session = ClientSession(greeting: nil)
        session.connected(at: 0)
        let gone = session.send(Post(name: "A"), at: 0)
        _ = session.takeAll()
        let waiting = session.send(Post(name: "B"), at: 0)
        session.kernelTook(3)
        let end = session.end()
        #expect(end.lost.map(\.id) == [gone])
        #expect(end.lost.map(\.outcome) == [.unknown])
        session.connected(at: 0)
        #expect(session.takeAll() == [#"{"type":"post","id":2,"name":"B"}"#])
        guard
            case .answered(waiting, .ok) = try session.receive(#"{"type":"ok","id":2,"seq":1,"receivers":1}"#)
        else { throw Unexpected() }
    }

    @Test func postsThatWaitTooLongForAConnectionAreGivenBack() {
        var session = ClientSession(greeting: nil)
        session.post(Post(name: "Old"), at: 10)
        let id = session.send(Post(name: "Sent"), at: 15)
        session.post(Post(name: "New"), at: 20)
        #expect(session.expirePosts(before: 10) == [])
        #expect(
            session.expirePosts(before: 20) == [
                UnsentPost(name: "Old", id: nil), UnsentPost(name: "Sent", id: id),
            ])
        #expect(!session.awaitsAnswers)
        session.connected(at: 30)
        #expect(session.expirePosts(before: 1000) == [])
        #expect(session.takeAll() == [#"{"type":"post","name":"New"}"#])
    }

    @Test func aRefusedObserverIsForgotten() throws {
        var session = ClientSession(greeting: nil)
        session.connected(at: 0)
        let observer = session.observe(Observation(.name("A")))
        #expect(!session.isObservingAll)
        let error = #"{"type":"error","id":1,"code":"limit-exceeded","message":"no room"}"#
        guard case .observerRefused(observer, let refusal) = try session.receive(error) else {
            throw Unexpected()
        }
        #expect(refusal.code == .known(.limitExceeded))
        _ = session.takeAll()
        _ = session.end()
        session.connected(at: 0)
        #expect(session.takeAll() == [])
        #expect(session.isObservingAll)
    }

    @Test func anObserverThatWasRemovedBeforeItsOkIsNotConfirmed() throws {
        var session = ClientSession(greeting: nil)
        session.connected(at: 0)
        let observer = session.observe(Observation(.name("A")))
        session.stopObserving(observer)
        session.stopObserving(observer)
        #expect(session.takeAll().last == #"{"type":"removeObserver","id":2,"observer":"1"}"#)
        #expect(try session.receive(#"{"type":"ok","id":1}"#) == nil)
        #expect(try session.receive(notification(1, "A")) == nil)
        guard case .stoppedObserving(observer) = try session.receive(#"{"type":"ok","id":2}"#) else {
            throw Unexpected()
        }
    }

    @Test(arguments: [
        ("shutting-down", GoodbyeReason.shuttingDown), ("slow-receiver", .slowReceiver),
        ("protocol-error", .protocolError), ("novel-reason", nil),
    ])
    func everyGoodbyeButRefusedMeansToConnectAgain(_ reason: String, _ known: GoodbyeReason?) throws {
        var session = ClientSession(greeting: nil)
        session.connected(at: 0)
        guard
            case .goodbye(let goodbye) = try session.receive(
                "{\"type\":\"goodbye\",\"reason\":\"\(reason)\",\"message\":\"m\"}")
        else { throw Unexpected() }
        #expect(goodbye.reason == known)
        #expect(goodbye.message == "m")
        #expect(!session.isConnected)
        #expect(try session.receive(notification(1)) == nil)
        let end = session.end()
        #expect(end.goodbye == goodbye)
        guard case .reconnect = end.next else { throw Unexpected() }
    }

    @Test func whoIsRefusedStaysAway() throws {
        var session = ClientSession(greeting: nil)
        session.connected(at: 0)
        _ = try session.receive(#"{"type":"goodbye","reason":"refused","message":"full"}"#)
        #expect(session.end().next == .stayAway)
    }

    @Test func anotherOverflowHoldsFromTheNextConnectionOn() {
        var session = ClientSession(greeting: nil)
        _ = session.observe(Observation(.all))
        session.connected(at: 0)
        #expect(session.takeAll() == [#"{"type":"addObserver","id":1,"observer":"1"}"#])
        session.setOverflow(.coalesce)
        _ = session.end()
        session.connected(at: 0)
        #expect(
            session.takeAll() == [#"{"type":"addObserver","id":2,"observer":"1","overflow":"coalesce"}"#])
    }

    /// Whatever the kernel takes, and wherever connections end: a post goes out whole at most once, none is
    /// lost that did not, and their order holds.
    @Test(arguments: 1...40)
    func postsGoOutOnceAndInOrder(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var session = ClientSession(greeting: "g")
        var posted = 0
        var onWire: [UInt8] = []
        var arrived: [String] = []
        func endConnection() {
            arrived += frames(in: onWire).filter { $0.hasSuffix("}") && $0.contains("post") }
            onWire = []
        }
        session.connected(at: 0)
        for _ in 0..<300 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0:
                _ = session.end()
                endConnection()
                session.connected(at: 0)
            case 1: _ = session.ping()
            case 2..<6:
                let padding = String(repeating: "x", count: .random(in: 0..<3000, using: &generator))
                session.post(Post(name: "\(posted)", object: padding), at: 0)
                posted += 1
            default:
                let count = Int.random(in: 0...session.unsentCount, using: &generator)
                onWire += session.withUnsent { Array($0.prefix(count)) }
                session.kernelTook(count)
            }
        }
        onWire += session.withUnsent { Array($0) }
        session.kernelTook(session.unsentCount)
        endConnection()
        let names = arrived.map { number(after: "\"name\":\"", in: $0) }
        #expect(names == (0..<posted).map(String.init), "seed \(seed)")
    }
}

struct Unexpected: Error {}
