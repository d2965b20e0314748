import ClientCore
import DistributedNotificationsTesting
import Foundation
import Synchronization
import Testing

@testable import DistributedNotifications

@Suite(.timeLimit(.minutes(1))) struct CenterTests {
    struct Seat: DistributedMessage, Equatable {
        static let name = Notification.Name("Seat")
        var number: Int
        var when: Date?
    }

    enum Action: TypedNotification {
        enum Key: String { case success, id }
    }

    static let patience = Duration.seconds(20)

    @Test("a notification reaches another center as it was sent")
    func basic() async throws {
        try await withTestBroker { center, broker in
            let stream = try await center.notifications(named: Notification.Name("a")).confirmed()
            let other = broker.makeCenter()
            let userInfo: UserInfo = [
                "i": 1, "d": 1.0, "s": "x\u{0}é", "date": Date(timeIntervalSinceReferenceDate: 0.5),
            ]
            let receipt = try await other.send(name: Notification.Name("a"), object: "o", userInfo: userInfo)
            let came = try await stream.next(within: Self.patience)
            #expect(came.userInfo == userInfo)
            #expect(came.name.rawValue == "a")
            #expect(came.object == "o")
            #expect(came.seq == receipt.seq)
            #expect(receipt.receivers == 1)
            #expect(came.sender.pid == ProcessInfo.processInfo.processIdentifier)
            #expect(abs(came.time.timeIntervalSinceNow) < 60)
            #expect(!came.isRetained)
            let notification = came.notification
            #expect(notification.object as? String == "o")
            #expect(notification.userInfo?["d"] as? Double == 1)
        }
    }

    @Test("messages and typed notifications are read as what they are")
    func typed() async throws {
        try await withTestBroker { center, broker in
            let seats = try await center.messages(of: Seat.self).confirmed()
            let plain = try await center.notifications(named: Seat.name).confirmed()
            let actions = try await center.notifications(of: Action.self).confirmed()
            let other = broker.makeCenter()
            other.post(Seat(number: 3, when: Date(timeIntervalSinceReferenceDate: 0)))
            other.post(Action.self, userInfo: [.success: true, .id: 5])
            #expect(try await seats.next(within: Self.patience).number == 3)
            let untyped = try await plain.next(within: Self.patience)
            #expect(untyped.userInfo["number"] == .int(3))
            let action = try await actions.next(within: Self.patience)
            #expect(action[.success] == true)
            #expect(action[.id] == 5)
            #expect(action.notification.name.rawValue == "Action")
            #expect(throws: DistributedNotificationError.self) { try action.value(for: .id, as: String.self) }
        }
    }
}

extension CenterTests {
    @Test("blocks are called on their queues, tokens end them")
    func blocks() async throws {
        try await withTestBroker { center, broker in
            let calls = Calls()
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 4
            let token = center.addObserver(forName: nil, object: nil, queue: nil) {
                calls.add("nil \($0.name.rawValue)")
            }
            for index in 0..<3 {
                center.addObserver(forName: Notification.Name("b"), object: nil, queue: queue) {
                    calls.add(
                        "\(index) \($0.userInfo?["n"] as? Int ?? -1) \(OperationQueue.current === queue)")
                }
            }
            try await center.waitForObservers(of: Notification.Name("b"))
            try await center.flush()
            let other = broker.makeCenter()
            other.post(name: Notification.Name("b"), object: nil, userInfo: ["n": 1])
            other.post(name: Notification.Name("b"), object: nil, userInfo: ["n": 2])
            try await calls.wait(count: 8)
            #expect(calls.all.filter { $0.hasPrefix("nil") } == ["nil b", "nil b"])
            #expect(
                calls.all.filter { !$0.hasPrefix("nil") } == [
                    "0 1 true", "1 1 true", "2 1 true", "0 2 true", "1 2 true", "2 2 true",
                ])
            center.removeObserver(token)
            try await other.send(name: Notification.Name("b"), userInfo: ["n": 3])
            try await calls.wait(count: 11)
            #expect(calls.all.filter { $0.hasPrefix("nil") }.count == 2)
        }
    }

    @MainActor final class Window {
        let calls: Calls
        init(_ calls: Calls) { self.calls = calls }
        func changed(_ notification: Notification) { calls.add("window \(notification.name.rawValue)") }
    }

    @Test("methods are called on the main actor, of objects that are there")
    func methods() async throws {
        try await withTestBroker { center, broker in
            let calls = Calls()
            var window: Window? = await Window(calls)
            let other = await Window(calls)
            if let window {
                center.addObserver(
                    window, selector: Window.changed, name: Notification.Name("w"), object: nil)
                center.addObserver(
                    window, selector: Window.changed, name: Notification.Name("v"), object: nil)
            }
            center.addObserver(other, selector: Window.changed, name: Notification.Name("v"), object: nil)
            try await center.flush()
            try await center.send(name: Notification.Name("w"))
            try await calls.wait(count: 1)
            center.removeObserver(other)
            if let window { center.removeObserver(window, name: Notification.Name("w"), object: nil) }
            try await center.send(name: Notification.Name("w"))
            try await center.send(name: Notification.Name("v"))
            try await calls.wait(count: 2)
            #expect(calls.all == ["window w", "window v"])
            window = nil
            try await center.send(name: Notification.Name("v"))
            try await center.waitUntil { $0.observers.isEmpty }
            #expect(calls.all.count == 2)
        }
    }

    @Test("async observers run one at a time; their tokens end with the last copy")
    func asyncObservers() async throws {
        try await withTestBroker { center, broker in
            let calls = Calls()
            var token: DistributedNotificationCenter.ObservationToken? = center.addObserver(for: Seat.self) {
                seat in
                calls.add("begin \(seat.number)")
                await Task.yield()
                calls.add("end \(seat.number)")
            }
            let second = center.addObserver(for: Action.self) { calls.add("action \($0[.id] as Int? ?? 0)") }
            try await token?.confirmed()
            try await second.confirmed()
            for number in 1...3 { center.post(Seat(number: number)) }
            center.post(Action.self, userInfo: [.id: 7])
            try await calls.wait(count: 7)
            #expect(
                calls.all.filter { !$0.hasPrefix("action") }
                    == ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"])
            token = nil
            center.removeObserver(second)
            try await center.waitUntil { $0.observers.isEmpty }
            try await center.flush()
            #expect(try await center.send(Seat(number: 4)).receivers == 0)
        }
    }

    @Test("a stream ends with its task, and so does its observation at the broker")
    func cancellation() async throws {
        try await withTestBroker { center, broker in
            let stream = try await center.notifications(matching: "c*").confirmed()
            let task = Task {
                for await _ in stream {}
            }
            #expect(try await center.send(name: Notification.Name("cc")).receivers == 1)
            task.cancel()
            await task.value
            try await center.flush()
            #expect(try await center.send(name: Notification.Name("cc")).receivers == 0)
        }
    }

    @Test("what is retained is given to later observers")
    func retained() async throws {
        try await withTestBroker { center, broker in
            center.post(Seat(number: 1), options: .retain)
            try await center.flush()
            let stream = center.notifications(named: Seat.name)
            let came = try await stream.next(within: Self.patience)
            #expect(came.isRetained)
            #expect(came.userInfo["number"] == .int(1))
            center.post(name: Seat.name, userInfo: [:], options: .clearRetained)
            #expect(try await stream.next(within: Self.patience).isRetained == false)
            let late = try await center.notifications(named: Seat.name).confirmed()
            try await center.send(Seat(number: 2))
            #expect(try await late.next(within: Self.patience).userInfo["number"] == .int(2))
        }
    }

    @Test("what does not decode is told in its place, and the stream goes on")
    func undecodable() async throws {
        try await withTestBroker { center, broker in
            let events = center.events
            let deliveries = try await center.messages(of: Seat.self).confirmed().deliveries
            center.post(name: Seat.name, object: nil, userInfo: ["number": "x"])
            center.post(Seat(number: 2))
            guard
                case .undecodable(let error, let notification) = try await deliveries.next(
                    within: Self.patience)
            else {
                Issue.record("decoded")
                return
            }
            #expect(error.code == .undecodable)
            #expect(error.keyPath == "number")
            #expect(notification.userInfo["number"] == .string("x"))
            #expect(try await deliveries.next(within: Self.patience) == .element(Seat(number: 2)))
            var isTold = false
            while !isTold {
                if case .undecodable(_, let error) = try await events.next(within: Self.patience) {
                    #expect(error.keyPath == "number")
                    isTold = true
                }
            }
        }
    }

    @Test("what can't be posted is an event, or thrown")
    func failures() async throws {
        try await withTestBroker { center, broker in
            let events = center.events
            center.post(name: Notification.Name("x"), object: nil, userInfo: ["a": [Decimal(1)]])
            center.post(name: Notification.Name(""), object: nil)
            center.post(Notification(name: Notification.Name("y"), object: 5))
            center.post(name: Notification.Name("z"), userInfo: ["data": Data(count: 13 << 20)])
            center.post(Seat(number: 1, when: .init(timeIntervalSince1970: 1e15)))
            var told: [String] = []
            center.post(name: Notification.Name("o"), object: String(repeating: "o", count: 1025))
            var deep = UserInfoValue.null
            for _ in 0..<127 { deep = .array([deep]) }
            let tooDeep = UserInfo(values: ["deep": deep])
            center.post(name: Notification.Name("d"), userInfo: tooDeep)
            while told.count < 7 {
                if case .postFailed(let name, let error) = try await events.next(within: Self.patience) {
                    told.append("\(name.rawValue) \(error.code) \(error.keyPath ?? "-")")
                }
            }
            #expect(
                told == [
                    "x invalidValue a[0]", " invalidName -", "y invalidValue object", "z tooLarge -",
                    "Seat invalidValue when", "o invalidName -",
                    "d invalidValue -",
                ])
            await #expect(throws: DistributedNotificationError.self) {
                try await center.send(name: Notification.Name("a\n"))
            }
            await #expect(throws: DistributedNotificationError.self) {
                try await center.send(name: Notification.Name("d"), userInfo: tooDeep)
            }
            await #expect(throws: DistributedNotificationError.self) {
                try await center.notifications(matching: "\\").confirmed()
            }
        }
    }

    @Test("a stream that drops counts exactly")
    func dropping() async throws {
        try await withTestBroker { center, broker in
            let stream = try await center.messages(of: Seat.self, buffering: .drop(limit: 10)).confirmed()
            let all = try await center.messages(of: Seat.self).confirmed()
            for number in 0..<100 { center.post(Seat(number: number)) }
            for number in 0..<100 { #expect(try await all.next(within: Self.patience).number == number) }
            var got: [Int] = []
            var missed: UInt64 = 0
            for await delivery in stream.deliveries {
                switch delivery {
                case .element(let seat): got.append(seat.number)
                case .gap(let gap): missed += gap.count ?? 0
                case .undecodable: Issue.record("undecodable")
                }
                if got.count + Int(missed) == 100 { break }
            }
            #expect(got == Array(0..<10))
            #expect(missed == 90)
        }
    }

    @Test("a stream that waits loses nothing, though it is read late")
    func waiting() async throws {
        try await withTestBroker { center, broker in
            let stream = try await center.messages(of: Seat.self, buffering: .wait(limit: 4)).confirmed()
            let other = broker.makeCenter()
            for number in 0..<2_000 { other.post(Seat(number: number)) }
            try await other.flush()
            // The answer stands behind notifications that nobody reads.
            try await center.flush()
            for number in 0..<2_000 { #expect(try await stream.next(within: Self.patience).number == number) }
        }
    }

    @Test("outside tasks an observer is confirmed when the call returns")
    func confirmedByReturn() async throws {
        try await withTestBroker { _, broker in
            let center = broker.makeCenter()
            let isConfirmed = await onThread {
                center.addObserver(forName: Notification.Name("o"), object: nil, queue: nil) { _ in }
                return center.engine.withState { state, _ in state.session.isObservingAll }
            }
            #expect(isConfirmed)
        }
    }

    final class Owner: Sendable {
        let center: DistributedNotificationCenter
        let calls: Calls
        init(_ center: DistributedNotificationCenter, _ calls: Calls) {
            self.center = center
            self.calls = calls
        }
        deinit {
            center.post(name: Notification.Name("gone"), object: nil)
            calls.add("gone")
        }
    }

    @Test("what a removed block held may call the center when it goes")
    func reentrantEnd() async throws {
        try await withTestBroker { center, broker in
            let calls = Calls()
            let token = center.addObserver(forName: nil, object: nil, queue: nil) {
                [owner = Owner(center, calls)] _ in
                _ = owner
            }
            center.removeObserver(token)
            try await calls.wait(count: 1)
            try await center.flush()
        }
    }

    @Test("a reader that never reads is given up by the broker, and comes back with a gap")
    func slowReader() async throws {
        try await withTestBroker(queueBytes: 64 << 10) { center, broker in
            let name = Notification.Name("large")
            let stream = try await center.notifications(named: name, buffering: .wait(limit: 2)).confirmed()
                .deliveries
            let events = center.events
            let other = broker.makeCenter()
            let data = Data(count: 10_000)
            let posting = Task {
                for number in 0..<80 {
                    try await other.send(name: name, userInfo: ["n": number, "data": data])
                }
            }
            try await posting.value
            while true {
                if case .disconnected(let error) = try await events.next(within: Self.patience) {
                    #expect(error.brokerCode == "slow-receiver")
                    break
                }
            }
            // Though nobody reads the stream, posts of this center go on.
            try await center.send(name: Notification.Name("other"))
            var next: Int64 = 0
            while true {
                switch try await stream.next(within: Self.patience) {
                case .element(let notification):
                    #expect(notification.userInfo["n"] == .int(next))
                    next += 1
                    continue
                case .gap(let gap): #expect(gap == Gap(count: nil, cause: .reconnection))
                case .undecodable: Issue.record("undecodable")
                }
                break
            }
            #expect(next < 80)
        }
    }

    @Test(
        "an observer that answers each notification with a post makes progress under a flood",
        arguments: [true, false])
    func flood(onQueue: Bool) async throws {
        try await withTestBroker { center, broker in
            let queue = onQueue ? OperationQueue() : nil
            center.addObserver(forName: Notification.Name("ping"), object: nil, queue: queue) {
                [unowned center] ping in
                center.post(name: Notification.Name("pong"), object: nil, userInfo: ping.userInfo)
            }
            let pongs = try await center.notifications(named: Notification.Name("pong")).confirmed()
            try await center.flush()
            let other = broker.makeCenter()
            let isOver = Flag()
            let padding = String(repeating: "x", count: 200)
            async let poster: Void = onThread {
                var number = 0
                while !isOver.isSet {
                    other.post(
                        name: Notification.Name("ping"), object: nil, userInfo: ["n": number, "p": padding])
                    number += 1
                }
            }
            var next = 0
            for await pong in pongs {
                guard pong.userInfo["n"] == .int(Int64(next)) else { break }
                next += 1
                if next == 1_000 { break }
            }
            #expect(next == 1_000)
            isOver.set()
            await poster
        }
    }
}

final class Flag: Sendable {
    private let flag = Atomic(false)
    var isSet: Bool { flag.load(ordering: .relaxed) }
    func set() { flag.store(true, ordering: .relaxed) }
}

/// Runs something outside tasks.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread { continuation.resume(returning: body()) }.start()
    }
}

/// What callbacks were called with, and something to wait for.
final class Calls: Sendable {
    private let publisher = Publisher<Int>()
    private let calls = Locked<[String]>([])

    var all: [String] { calls.withLock { $0 } }

    func add(_ call: String) {
        let count = calls.withLock { calls in
            calls.append(call)
            return calls.count
        }
        for wake in publisher.publish(count) { wake() }
    }

    func wait(count: Int) async throws {
        let counts = publisher.subscribe(startingWith: all.count)
        while all.count < count { _ = try await counts.next(within: CenterTests.patience) }
    }
}

extension DistributedNotificationCenter {
    /// Waits for something that no event tells. Yields instead of sleeping, until a deadline.
    func waitUntil(_ condition: (CenterState) -> Bool) async throws {
        let deadline = ContinuousClock.now + CenterTests.patience
        while !engine.withState(connecting: false, { state, _ in condition(state) }) {
            if ContinuousClock.now > deadline {
                throw DistributedNotificationError(code: .timedOut, description: "")
            }
            await Task.yield()
        }
    }
}
