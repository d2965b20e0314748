import DistributedNotificationsTesting
import Foundation
import Testing

@testable import DistributedNotifications

@Suite(.timeLimit(.minutes(5))) struct CenterTests {
    struct Seat: DistributedMessage, Equatable {
        static let name = Notification.Name("Seat")
        var number: Int
        var when: Date?
    }

    enum Action: TypedNotification {
        enum Key: String { case success, id }
    }

    static let patience = Duration.seconds(60)

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
}
