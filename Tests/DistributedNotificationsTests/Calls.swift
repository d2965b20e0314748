import DistributedNotificationsTesting
import Foundation
import Synchronization

@testable import DistributedNotifications

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
