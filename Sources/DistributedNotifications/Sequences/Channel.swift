/// What stands in a channel: a value, or the place where some are missing.
enum ChannelEntry<Item: Sendable>: Sendable {
    case item(Item)
    case gap(Gap)
}

/// A bounded queue from the center to one consumer: a task that iterates, or a job on somebody's queue.
///
/// The producer pushes while it holds its own lock, the consumer takes batches under this one's only; the channel
/// calls nobody back while it holds its lock. What must happen afterwards is returned: the producer runs the
/// `wake` when its lock is free, and stops reading while a channel of overflow `wait` is full.
///
/// A full channel that waits still accepts what comes, since the answer somebody waits for may stand behind it; only
/// beyond an excess of some megabytes it drops the newest.
final class Channel<Item: Sendable>: Sendable {
    enum Overflow: Sendable { case wait, dropNewest, dropOldest }

    struct Pushed {
        /// The consumer had found nothing to take; it does not come by itself.
        var foundIdle = false
        /// Resumes the tasks that wait. To be called when no lock is held.
        var wake: (@Sendable () -> Void)?
        /// A full channel was not full before; `onRoom` will tell when there is room.
        var becameFull = false
        /// Dropped values that now have their place in the stream.
        var gap: Gap?
    }

    struct Hooks: Sendable {
        /// What was full is half empty.
        var onRoom: (@Sendable (ObjectIdentifier) -> Void)?
        /// A gap got its place because the consumer came to it.
        var onGap: (@Sendable (Gap) -> Void)?
    }

    private struct State {
        var entries: [ChannelEntry<Item>] = []
        var head = 0
        var missed: UInt64 = 0
        var excess = 0
        var isFull = false
        var isIdle = true
        var isFinished = false
        var waiters: [(id: UInt64, continuation: CheckedContinuation<Void, Never>)] = []
        var lastWaiter: UInt64 = 0

        var count: Int { entries.count - head }
        var hasSomething: Bool { count > 0 || missed > 0 || isFinished }
    }

    private static var excessLimit: Int { 8 << 20 }
    private static var batch: Int { 64 }

    private let limit: Int
    private let overflow: Overflow
    private let hooks: Hooks
    private let state = Locked(State())

    init(limit: Int, overflow: Overflow, hooks: Hooks = Hooks()) {
        self.limit = max(1, limit)
        self.overflow = overflow
        self.hooks = hooks
    }

    func push(_ item: Item, bytes: Int = 0) -> Pushed {
        state.withLock { state in
            var pushed = Pushed()
            guard !state.isFinished else { return pushed }
            if state.count >= limit {
                switch overflow {
                case .wait:
                    state.excess += bytes
                    if state.excess > Self.excessLimit {
                        state.missed += 1
                        return pushed
                    }
                case .dropNewest:
                    state.missed += 1
                    return pushed
                case .dropOldest:
                    if case .item = state.entries[state.head] { state.missed += 1 }
                    state.head += 1
                    compact(&state)
                }
            }
            if state.missed > 0 && overflow != .dropOldest {
                let gap = Gap(count: state.missed, cause: .buffer)
                state.missed = 0
                state.entries.append(.gap(gap))
                pushed.gap = gap
            }
            state.entries.append(.item(item))
            if overflow == .wait && !state.isFull && state.count >= limit {
                state.isFull = true
                pushed.becameFull = true
            }
            wake(&state, &pushed)
            return pushed
        }
    }

    /// Gaps have no limit, but two with nothing in between are one.
    func push(_ gap: Gap) -> Pushed {
        state.withLock { state in
            guard !state.isFinished else { return Pushed() }
            if state.count > 0, case .gap(let last) = state.entries[state.entries.count - 1],
                last.cause == gap.cause
            {
                let count = last.count.flatMap { last in gap.count.map { last + $0 } }
                state.entries[state.entries.count - 1] = .gap(Gap(count: count, cause: gap.cause))
            } else {
                state.entries.append(.gap(gap))
            }
            var pushed = Pushed()
            wake(&state, &pushed)
            return pushed
        }
    }

    private func wake(_ state: inout State, _ pushed: inout Pushed) {
        guard state.isIdle else { return }
        state.isIdle = false
        pushed.foundIdle = true
        guard !state.waiters.isEmpty else { return }
        let continuations = state.waiters.map(\.continuation)
        state.waiters = []
        pushed.wake = {
            for continuation in continuations { continuation.resume() }
        }
    }

    enum Taken {
        case entries([ChannelEntry<Item>])
        /// Nothing now. The next push wakes the consumer.
        case nothing
        case finished
    }

    func take() -> Taken {
        var hasRoom = false
        var found: Gap?
        let taken = state.withLock { state -> Taken in
            if state.isFinished { return .finished }
            var batch: [ChannelEntry<Item>] = []
            if state.missed > 0 && (overflow == .dropOldest || state.count == 0) {
                let gap = Gap(count: state.missed, cause: .buffer)
                state.missed = 0
                batch.append(.gap(gap))
                found = gap
            }
            batch += dequeue(&state)
            if state.isFull && state.count <= limit / 2 {
                state.isFull = false
                state.excess = 0
                hasRoom = true
            }
            guard batch.isEmpty else { return .entries(batch) }
            state.isIdle = true
            return .nothing
        }
        if hasRoom { hooks.onRoom?(ObjectIdentifier(self)) }
        if let found { hooks.onGap?(found) }
        return taken
    }

    /// What `take` takes; nil at the end.
    func takeEntries() -> [ChannelEntry<Item>]? {
        switch take() {
        case .entries(let entries): entries
        case .nothing: []
        case .finished: nil
        }
    }

    private func dequeue(_ state: inout State) -> [ChannelEntry<Item>] {
        if state.count <= Self.batch && state.head == 0 {
            let all = state.entries
            state.entries = []
            return all
        }
        let end = state.head + min(state.count, Self.batch)
        let batch = Array(state.entries[state.head..<end])
        state.head = end
        compact(&state)
        return batch
    }

    private func compact(_ state: inout State) {
        guard state.head > state.entries.count / 2 else { return }
        state.entries.removeFirst(state.head)
        state.head = 0
    }

    /// Returns when there may be something to take, or the task is cancelled.
    func wait(isolation: isolated (any Actor)? = #isolation) async {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation(isolation: isolation) { continuation in
                let isReady = state.withLock { state in
                    guard !state.hasSomething, !Task.isCancelled else { return true }
                    state.isIdle = true
                    state.waiters.append((id, continuation))
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0).continuation }
            }
            continuation?.resume()
        }
    }

    /// Drops what is held; the consumer finds the end. Returns what to call when no lock is held.
    func finish() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.isFinished else { return nil }
            state.isFinished = true
            state.entries = []
            state.head = 0
            state.missed = 0
            state.isIdle = true
            var pushed = Pushed()
            wake(&state, &pushed)
            return pushed.wake
        }
    }
}
