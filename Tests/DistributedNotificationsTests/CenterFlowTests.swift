import ClientCore
import DistributedNotificationsTesting
import Foundation
import Testing

@testable import DistributedNotifications

// What is bounded: streams that drop or wait, and who waits for whom.
extension CenterTests {
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
