import Glibc
import TestSupport
import Testing
import UnixIO

@Suite struct PollerTests {
    @Test func eachEventHasItsToken() throws {
        let one = try ConnectedPair()
        let other = try ConnectedPair()
        let poller = try Poller()
        try poller.add(one.right.number, .readable, token: .max)
        try poller.add(other.right.number, .readable, token: 1 << 40)
        #expect(try poller.wait(until: 0) == 0)
        #expect(other.left.write("x") == .bytes(1))
        #expect(try poller.wait(until: soon()) == 1)
        #expect(poller.event(at: 0) == (1 << 40, .readable))
        #expect(one.left.write("x") == .bytes(1))
        #expect(try poller.wait(until: soon()) == 2)
        #expect(Set([poller.event(at: 0).token, poller.event(at: 1).token]) == [.max, 1 << 40])
        try poller.remove(other.right.number)
        #expect(try poller.wait(until: soon()) == 1)
    }

    @Test func edgeTriggeredTellsOnce() throws {
        let pair = try ConnectedPair()
        let poller = try Poller()
        try poller.add(pair.right.number, [.readable, .peerClosed], edgeTriggered: true, token: 1)
        #expect(pair.left.write("x") == .bytes(1))
        #expect(try poller.wait(until: soon()) == 1)
        #expect(try poller.wait(until: 0) == 0)
        pair.left.shutdownWriting()
        #expect(try poller.wait(until: soon()) == 1)
        #expect(poller.event(at: 0).readiness == [.readable, .peerClosed])
        #expect(try poller.wait(until: 0) == 0)
    }

    @Test func interestChanges() throws {
        let pair = try ConnectedPair()
        let poller = try Poller()
        try poller.add(pair.right.number, .readable, token: 1)
        try poller.modify(pair.right.number, .writable, token: 2)
        #expect(try poller.wait(until: soon()) == 1)
        #expect(poller.event(at: 0) == (2, .writable))
    }

    @Test func aPeerThatIsGoneIsToldUnasked() throws {
        let directory = try TemporaryDirectory()
        let listener = try ListeningSocket(at: directory.path.appending("s"), mode: 0o600)
        let client = try StreamSocket.connect(to: directory.path.appending("s"))
        do {
            guard case .connection = listener.accept() else { throw NoConnection() }
        }
        let poller = try Poller()
        try poller.add(client.number, [], token: 1)
        #expect(try poller.wait(until: soon()) == 1)
        #expect(poller.event(at: 0).readiness == .hangUp)
    }

    @Test func aDeadlineIsNeitherEarlyNorSpunFor() throws {
        let poller = try Poller()
        for nanoseconds: UInt64 in [1, 200_000, 1_700_000, 20_000_000] {
            let deadline = MonotonicClock.now() + nanoseconds
            #expect(try poller.wait(until: deadline) == 0)
            #expect(MonotonicClock.now() >= deadline)
        }
    }

    @Test func aWakeIsSeenAndCleared() throws {
        let alarm = try WakeDescriptor()
        let poller = try Poller()
        try poller.add(alarm.number, .readable, token: 9)
        #expect(try poller.wait(until: 0) == 0)
        alarm.wake()
        alarm.wake()
        #expect(try poller.wait(until: soon()) == 1)
        alarm.clear()
        #expect(try poller.wait(until: 0) == 0)
    }
}

@Suite struct PollEntryTests {
    @Test func severalAreWaitedFor() throws {
        let one = try ConnectedPair()
        let other = try ConnectedPair()
        var entries = [
            PollEntry(one.left.number, .readable), PollEntry(other.left.number, [.readable, .writable]),
            PollEntry(-1, .readable),
        ]
        #expect(try PollEntry.wait(for: &entries, until: soon()) == 1)
        #expect(entries.map(\.readiness) == [[], .writable, []])
        entries[1].interest = .readable
        #expect(one.right.write("x") == .bytes(1))
        #expect(try PollEntry.wait(for: &entries, until: soon()) == 1)
        #expect(entries.map(\.readiness) == [.readable, [], []])
    }

    @Test func theDeadlineEndsTheWait() throws {
        let pair = try ConnectedPair()
        let deadline = MonotonicClock.now() + 3_300_000
        #expect(try PollEntry.wait(for: pair.left.number, .readable, until: deadline) == [])
        #expect(MonotonicClock.now() >= deadline)
        MonotonicClock.sleep(until: deadline + 1_000_000)
        #expect(MonotonicClock.now() >= deadline + 1_000_000)
    }

    @Test func aClosedPeerIsTold() throws {
        let pair = try ConnectedPair()
        pair.right.shutdownWriting()
        let readiness = try PollEntry.wait(for: pair.left.number, [.readable, .peerClosed], until: soon())
        #expect(readiness == [.readable, .peerClosed])
        #expect(try PollEntry.wait(for: 1 << 20, .readable, until: soon()) == .invalid)
    }
}

@Suite struct ClockTests {
    @Test func deadlines() {
        let before = MonotonicClock.now()
        let deadline = MonotonicClock.deadline(inSeconds: 0.5)
        #expect(
            deadline.map { $0 >= before + 500_000_000 && $0 <= MonotonicClock.now() + 500_000_000 } == true)
        for never in [1e300, .infinity, .nan] { #expect(MonotonicClock.deadline(inSeconds: never) == nil) }
        #expect(MonotonicClock.deadline(inSeconds: -1).map { $0 <= MonotonicClock.now() } == true)
        #expect(WallClock.microseconds() > 1_700_000_000_000_000)
    }
}

@Suite struct DurationTests {
    private static let cases: [(Duration, UInt64)] = [
        (.zero, 0), (.nanoseconds(1), 1), (.seconds(1) + .nanoseconds(5), 1_000_000_005),
        (Duration(secondsComponent: 0, attosecondsComponent: 999_999_999), 0), (.seconds(-3), 0),
        (.seconds(1_000_000_000_000), 3_162_240_000_000_000_000),
    ]

    @Test(arguments: cases)
    func inNanoseconds(duration: Duration, nanoseconds: UInt64) {
        #expect(duration.nanoseconds == nanoseconds)
    }
}

@Suite struct SignalTests {
    @Test func aBlockedSignalIsRead() async {
        await #expect(processExitsWith: .success) {
            let signals = try SignalDescriptor([.terminate, .hangUp])
            #expect(signals.next() == nil)
            raise(SIGHUP)
            #expect(try PollEntry.wait(for: signals.number, .readable, until: nil) == .readable)
            #expect(signals.next() == .hangUp)
            #expect(signals.next() == nil)
            raise(SIGTERM)
            #expect(signals.next() == .terminate)
        }
        #expect(Signal.interrupt.exitStatus == 130)
        #expect(Signal.terminate.exitStatus == 143)
    }
}
