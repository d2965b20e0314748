import DistributedNotificationsTesting
import Foundation
import Testing

@testable import DistributedNotifications

/// What Apple's documentation says, row by row as in the table of the article ComingFromNotificationCenter.
@Suite(.timeLimit(.minutes(5))) struct AppleSemanticsTests {
    typealias Center = DistributedNotificationCenter

    struct Row: Sendable, CustomTestStringConvertible {
        let title: String
        let run: @Sendable (Stage) async throws -> Void
        var testDescription: String { title }
    }

    /// An observing center, a posting one, and what was called.
    struct Stage: Sendable {
        let center: Center
        let poster: Center
        let calls = Calls()

        func observe(
            _ label: String, name: String? = "n", object: String? = nil, queue: OperationQueue? = nil,
            _ behavior: Center.SuspensionBehavior = .coalesce
        ) -> any NSObjectProtocol {
            let calls = calls
            return center.addObserver(
                forName: name.map { Notification.Name($0) }, object: object, suspensionBehavior: behavior,
                queue: queue
            ) {
                calls.add("\(label) \($0.name.rawValue)\($0.userInfo?["i"] as? Int ?? 0)")
            }
        }

        func post(
            _ number: Int = 0, name: String = "n", object: String? = nil, deliverImmediately: Bool = false
        ) async throws {
            poster.postNotificationName(
                Notification.Name(name), object: object, userInfo: ["i": number],
                deliverImmediately: deliverImmediately)
            try await poster.flush()
        }

        /// The calls until now: everything that was posted has been given to the observers.
        func calls(afterPosting name: String = "end") async throws -> [String] {
            let token = center.addObserver(
                forName: Notification.Name(name), object: nil, suspensionBehavior: .deliverImmediately,
                queue: nil
            ) { [calls] _ in calls.add("end") }
            try await center.flush()
            // Not through the suspended center's held queue: that would flush it.
            poster.postNotificationName(Notification.Name(name), object: nil, deliverImmediately: true)
            while !calls.all.contains("end") { try await calls.wait(count: calls.all.count + 1) }
            center.removeObserver(token)
            return calls.all.filter { $0 != "end" }
        }
    }

    static let rows: [Row] = [
        Row(title: "A nil name observes every name") { stage in
            _ = stage.observe("all", name: nil)
            try await stage.center.flush()
            try await stage.post(1, name: "a")
            try await stage.post(2, name: "b")
            #expect(try await stage.calls().filter { !$0.hasSuffix("end0") } == ["all a1", "all b2"])
        },
        Row(title: "A nil object observes posts with and without an object") { stage in
            _ = stage.observe("any")
            try await stage.center.flush()
            try await stage.post(1)
            try await stage.post(2, object: "o")
            #expect(try await stage.calls() == ["any n1", "any n2"])
        },
        Row(title: "A post without an object reaches only observers without one") { stage in
            _ = stage.observe("o", object: "o")
            _ = stage.observe("any")
            try await stage.center.flush()
            try await stage.post(1)
            try await stage.post(2, object: "other")
            #expect(try await stage.calls() == ["any n1", "any n2"])
        },
        Row(title: "Objects are compared by value") { stage in
            _ = stage.observe("o", object: ["some", "object"].joined())
            try await stage.center.flush()
            try await stage.post(1, object: String("tcejboemos".reversed()))
            #expect(try await stage.calls() == ["o n1"])
        },
        Row(title: "Names and objects are compared byte by byte") { stage in
            _ = stage.observe("composed", object: "\u{e9}")
            try await stage.center.flush()
            try await stage.post(1, object: "e\u{301}")
            try await stage.post(2, object: "\u{e9}")
            #expect(try await stage.calls() == ["composed n2"])
        },
        Row(title: "Several observers are each called once, in the order of registration") { stage in
            for label in ["a", "b", "c"] { _ = stage.observe(label) }
            try await stage.center.flush()
            try await stage.post(1)
            try await stage.post(2)
            #expect(try await stage.calls() == ["a n1", "b n1", "c n1", "a n2", "b n2", "c n2"])
        },
        Row(title: "What is registered twice is called twice") { stage in
            _ = stage.observe("a")
            _ = stage.observe("a")
            try await stage.center.flush()
            try await stage.post(1)
            #expect(try await stage.calls() == ["a n1", "a n1"])
        },
        Row(title: "An observer removed during delivery is not called any more") { stage in
            let tokens = Tokens()
            let (center, calls) = (stage.center, stage.calls)
            center.addObserver(forName: Notification.Name("n"), object: nil, queue: nil) { _ in
                calls.add("remover")
                tokens.removeAll(from: center)
            }
            tokens.add(stage.observe("removed"))
            try await stage.center.flush()
            try await stage.post(1)
            try await stage.post(2)
            #expect(try await stage.calls() == ["remover", "remover"])
        },
        Row(title: "A post inside an observer is delivered after it") { stage in
            let (center, calls) = (stage.center, stage.calls)
            center.addObserver(forName: Notification.Name("n"), object: nil, queue: nil) {
                [unowned center] _ in
                center.post(name: Notification.Name("inner"), object: nil)
                calls.add("outer")
            }
            _ = stage.observe("saw", name: "inner")
            try await stage.center.flush()
            try await stage.post(1)
            try await calls.wait(count: 2)
            #expect(calls.all == ["outer", "saw inner0"])
        },
        Row(title: "A process observes its own posts") { stage in
            _ = stage.observe("own")
            try await stage.center.flush()
            stage.center.post(name: Notification.Name("n"), object: nil)
            try await stage.calls.wait(count: 1)
            #expect(stage.calls.all == ["own n0"])
        },
        Row(title: "Without a queue the block is called on a thread of the center") { stage in
            let calls = stage.calls
            stage.center.addObserver(forName: Notification.Name("n"), object: nil, queue: nil) { _ in
                calls.add("\(Thread.isMainThread) \(OperationQueue.current == nil)")
            }
            try await stage.center.flush()
            try await stage.post()
            #expect(try await stage.calls() == ["false true"])
        },
        Row(title: "With a queue the block is called there") { stage in
            let queue = OperationQueue()
            let calls = stage.calls
            stage.center.addObserver(forName: Notification.Name("n"), object: nil, queue: queue) { _ in
                calls.add("\(OperationQueue.current === queue)")
            }
            try await stage.center.flush()
            try await stage.post()
            try await stage.calls.wait(count: 1)
            #expect(stage.calls.all == ["true"])
        },
        Row(title: "A token that is not kept keeps observing") { stage in
            do { _ = stage.observe("kept") }
            try await stage.center.flush()
            try await stage.post(1)
            #expect(try await stage.calls() == ["kept n1"])
        },
        Row(title: "Removing by name and object ends what matches both") { stage in
            let token = stage.observe("a", object: "o")
            stage.center.removeObserver(token, name: Notification.Name("other"), object: nil)
            stage.center.removeObserver(token, name: nil, object: "other")
            try await stage.center.flush()
            try await stage.post(1, object: "o")
            #expect(try await stage.calls() == ["a n1"])
            stage.center.removeObserver(token, name: Notification.Name("n"), object: "o")
            try await stage.post(2, object: "o")
            #expect(try await stage.calls(afterPosting: "second") == ["a n1"])
        },
        Row(title: "Suspended, drop drops") { stage in
            _ = stage.observe("a", .drop)
            try await stage.center.flush()
            stage.center.suspended = true
            try await stage.post(1)
            #expect(try await stage.calls() == [])
            stage.center.suspended = false
            try await stage.post(2)
            #expect(try await stage.calls(afterPosting: "second") == ["a n2"])
        },
        Row(title: "Suspended, coalesce keeps the last of each name and object") { stage in
            _ = stage.observe("a", name: nil)
            try await stage.center.flush()
            stage.center.suspended = true
            for (number, name, object) in [(1, "x", nil), (2, "y", nil), (3, "x", nil), (4, "x", "o")]
                as [(Int, String, String?)]
            {
                try await stage.post(number, name: name, object: object)
            }
            try await stage.center.flush()
            #expect(stage.calls.all == [])
            stage.center.suspended = false
            try await stage.calls.wait(count: 3)
            #expect(stage.calls.all == ["a y2", "a x3", "a x4"])
        },
        Row(title: "Suspended, hold keeps all") { stage in
            _ = stage.observe("a", .hold)
            try await stage.center.flush()
            stage.center.suspended = true
            for number in 1...3 { try await stage.post(number) }
            try await stage.center.flush()
            #expect(stage.calls.all == [])
            stage.center.suspended = false
            try await stage.calls.wait(count: 3)
            #expect(stage.calls.all == ["a n1", "a n2", "a n3"])
        },
        Row(title: "Suspended, deliverImmediately delivers, after all that is held") { stage in
            _ = stage.observe("held", name: "h", .hold)
            _ = stage.observe("now", .deliverImmediately)
            try await stage.center.flush()
            stage.center.suspended = true
            try await stage.post(1, name: "h")
            try await stage.center.flush()
            #expect(stage.calls.all == [])
            try await stage.post(2)
            try await stage.calls.wait(count: 2)
            #expect(stage.calls.all == ["held h1", "now n2"])
            #expect(stage.center.suspended)
            try await stage.post(3, name: "h")
            try await stage.center.flush()
            #expect(stage.calls.all.count == 2)
        },
        Row(title: "Suspended, a post with deliverImmediately is delivered whatever the behaviour") { stage in
            for behavior in [Center.SuspensionBehavior.drop, .coalesce, .hold] {
                _ = stage.observe("\(behavior)", behavior)
            }
            try await stage.center.flush()
            stage.center.suspended = true
            try await stage.post(1)
            try await stage.post(2, deliverImmediately: true)
            try await stage.calls.wait(count: 3)
            #expect(stage.calls.all == ["drop n2", "coalesce n2", "hold n2"])
            stage.center.suspended = false
            try await stage.calls.wait(count: 5)
            #expect(stage.calls.all.suffix(2) == ["coalesce n1", "hold n1"])
        },
        Row(title: "What is no property list is not posted, and told by an event") { stage in
            let events = stage.poster.events
            stage.poster.post(name: Notification.Name("n"), object: nil, userInfo: ["i": NSObject()])
            while true {
                guard case .postFailed(_, let error) = try await events.next(within: CenterTests.patience)
                else { continue }
                #expect(error.keyPath == "i")
                break
            }
        },
    ]

    @Test("Apple's semantics", arguments: rows)
    func row(row: Row) async throws {
        try await withTestBroker { center, broker in
            try await row.run(Stage(center: center, poster: broker.makeCenter()))
        }
    }

    @Test("the documentation has each row")
    func documented() throws {
        let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent(
                "../../Sources/DistributedNotifications/DistributedNotifications.docc/ComingFromNotificationCenter.md"
            )
        let text = try String(contentsOf: article, encoding: .utf8)
        for row in Self.rows { #expect(text.contains("| \(row.title) |"), "\(row.title)") }
    }

    final class Tokens: Sendable {
        private let tokens = Locked<[BlockObserver]>([])

        func add(_ token: any NSObjectProtocol) {
            guard let token = token as? BlockObserver else { return }
            tokens.withLock { $0.append(token) }
        }

        func removeAll(from center: Center) {
            for token in tokens.withLock({ $0 }) { center.removeObserver(token) }
        }
    }

    @Test("streams hold while the center is suspended; over the limit the oldest go and are told")
    func heldStreams() async throws {
        try await withTestBroker { center, broker in
            let stream = try await center.messages(of: LifeTests.Tick.self, buffering: .wait(limit: 2_000))
                .confirmed().deliveries
            center.suspended = true
            for number in 0..<1_005 { center.post(LifeTests.Tick(poster: 0, number: number)) }
            try await center.flush()
            center.suspended = false
            #expect(
                try await stream.next(within: CenterTests.patience) == .gap(Gap(count: 5, cause: .heldQueue)))
            for number in 5..<1_005 {
                #expect(
                    try await stream.next(within: CenterTests.patience)
                        == .element(.init(poster: 0, number: number)))
            }
        }
    }
}
