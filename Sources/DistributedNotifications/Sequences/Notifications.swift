/// An asynchronous sequence of notifications, messages or events.
///
/// It observes from the call that made it, not from its first iteration: what is posted in between waits in its
/// buffer. Elements come in the order in which the broker accepted them. There is one stream for all copies and
/// iterators: each element goes to one of them.
///
/// The observation ends with the last copy, when the task that iterates is cancelled, or when the center is
/// closed; the sequence ends then.
public struct Notifications<Element: Sendable>: AsyncSequence, Sendable {
    /// It never fails; trouble is told by ``deliveries`` and by the center's events.
    public typealias Failure = Never

    struct Source: Sendable {
        /// What is there, in order; empty if there is nothing now, nil at the end.
        var take: @Sendable () -> [Delivery<Element>]?
        var wait: @Sendable (isolated (any Actor)?) async -> Void
        var end: @Sendable () -> Void
        var confirm: @Sendable () async throws(DistributedNotificationError) -> Void
        /// Ends the observation when it goes.
        var lifetime: any AnyObject & Sendable
        /// What was taken and not yet given to anybody. It is the stream's, not an iterator's, so that a loop that is left
        /// early loses nothing.
        let batch = Batch<Element>()
    }

    let source: Source

    init(_ source: Source) {
        self.source = source
    }

    /// Waits until the broker knows of the observation: nothing that is posted from then on is missed.
    ///
    /// Without a broker it waits for one.
    ///
    /// - Throws: `refused` if the broker does not take the observer, `cancelled` if the task is cancelled or the
    ///   center closed.
    public func confirmed() async throws(DistributedNotificationError) -> Self {
        try await source.confirm()
        return self
    }

    /// The same stream with gaps and undecodable notifications in their place.
    public var deliveries: Notifications<Delivery<Element>> {
        let source = source
        return Notifications<Delivery<Element>>(
            .init(
                take: { (source.batch.rest() ?? source.take())?.map(Delivery.element) },
                wait: source.wait, end: source.end, confirm: source.confirm, lifetime: source.lifetime))
    }

    /// Takes elements out of the stream.
    public struct Iterator: AsyncIteratorProtocol {
        private let source: Source

        init(_ source: Source) {
            self.source = source
        }

        /// The next element; nil at the end, and at once when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
            while !Task.isCancelled {
                if let delivery = source.batch.next() {
                    if case .element(let element) = delivery { return element }
                } else if let taken = source.take() {
                    if taken.isEmpty { await source.wait(actor) } else { source.batch.add(taken) }
                } else {
                    return nil
                }
            }
            source.end()
            return nil
        }
    }

    /// Makes an iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(source)
    }
}

extension Notifications {
    /// A stream of what a channel holds, read by `read`.
    init<Item>(
        _ channel: Channel<Item>, lifetime: any AnyObject & Sendable,
        end: @escaping @Sendable () -> Void,
        confirm: @escaping @Sendable () async throws(DistributedNotificationError) -> Void,
        read: @escaping @Sendable (Item) -> Delivery<Element>
    ) {
        source = Source(
            take: {
                switch channel.take() {
                case .entries(let entries):
                    entries.map { entry in
                        switch entry {
                        case .item(let item): read(item)
                        case .gap(let gap): .gap(gap)
                        }
                    }
                case .nothing: []
                case .finished: nil
                }
            },
            wait: { await channel.wait(isolation: $0) }, end: end, confirm: confirm, lifetime: lifetime)
    }
}

/// Deliveries that were taken out of a channel together.
final class Batch<Element: Sendable>: Sendable {
    private let state = Locked<(deliveries: [Delivery<Element>], index: Int)>(([], 0))

    func next() -> Delivery<Element>? {
        state.withLock { state in
            guard state.index < state.deliveries.count else { return nil }
            defer { state.index += 1 }
            return state.deliveries[state.index]
        }
    }

    func add(_ more: [Delivery<Element>]) {
        state.withLock { state in
            let isEmpty = state.index == state.deliveries.count
            state = (isEmpty ? more : state.deliveries[state.index...] + more, 0)
        }
    }

    /// nil if there is none.
    func rest() -> [Delivery<Element>]? {
        state.withLock { state in
            defer { state = ([], 0) }
            return state.index < state.deliveries.count ? Array(state.deliveries[state.index...]) : nil
        }
    }
}

extension Notifications {
    /// Takes one element; unlike an iterator it may give up without ending the observation.
    package func next(waiting duration: Duration) async throws(DistributedNotificationError) -> Element {
        let reader = Task { () -> Result<Element, DistributedNotificationError> in
            while true {
                if let delivery = source.batch.next() {
                    if case .element(let element) = delivery { return .success(element) }
                } else if let taken = source.take() {
                    if taken.isEmpty {
                        if Task.isCancelled {
                            return .failure(
                                .init(code: .timedOut, description: "nothing came within \(duration)"))
                        }
                        await source.wait(nil)
                    } else {
                        source.batch.add(taken)
                    }
                } else {
                    return .failure(.init(code: .cancelled, description: "the sequence has ended"))
                }
            }
        }
        let timer = Task {
            do {
                try await Task.sleep(for: duration)
            } catch {
                return
            }
            reader.cancel()
        }
        let result = await withTaskCancellationHandler {
            await reader.value
        } onCancel: {
            reader.cancel()
        }
        timer.cancel()
        if case .failure = result, Task.isCancelled { throw .cancelled }
        return try result.get()
    }
}
