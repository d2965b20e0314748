/// Hands each value to all who subscribed before it. A subscriber that does not read keeps the last 64.
final class Publisher<Value: Sendable>: Sendable {
    private struct State {
        var channels: [UInt64: Channel<Value>] = [:]
        var lastNumber: UInt64 = 0
        var isFinished = false
    }

    private static var kept: Int { 64 }

    private let state = Locked(State())

    func subscribe(startingWith first: Value? = nil) -> Notifications<Value> {
        let channel = Channel<Value>(limit: Self.kept, overflow: .dropOldest)
        if let first { _ = channel.push(first) }
        let number = state.withLock { state -> UInt64 in
            state.lastNumber += 1
            state.channels[state.lastNumber] = channel
            if state.isFinished { _ = channel.finish() }
            return state.lastNumber
        }
        let end: @Sendable () -> Void = { [weak self] in
            _ = self?.state.withLock { $0.channels.removeValue(forKey: number) }
            channel.finish()?()
        }
        return Notifications(
            channel, lifetime: Lifetime(end), end: end,
            confirm: { () throws(DistributedNotificationError) in },
            read: { .element($0) })
    }

    /// Returns what to call when no lock is held.
    func publish(_ value: Value) -> [@Sendable () -> Void] {
        state.withLock { state in state.channels.values.compactMap { $0.push(value).wake } }
    }

    /// Ends all subscriptions. Returns what to call when no lock is held.
    func finish() -> [@Sendable () -> Void] {
        state.withLock { state in
            state.isFinished = true
            return state.channels.values.compactMap { $0.finish() }
        }
    }
}

/// Runs something when its last owner lets go.
final class Lifetime: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit {
        end()
    }
}
