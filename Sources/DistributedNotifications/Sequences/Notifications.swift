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

    @usableFromInline
    struct Source: Sendable {
        /// What is there, in order; empty if there is nothing now, nil at the end.
        var takeDeliveries: @Sendable () -> [Delivery<Element>]?
        /// The same without gaps and what is undecodable; empty does not mean that there is nothing, but then `wait` returns.
        @usableFromInline var take: @Sendable () -> [Element]?
        @usableFromInline var wait: @Sendable (isolated (any Actor)?) async -> Void
        @usableFromInline var end: @Sendable () -> Void
        var confirm: @Sendable () async throws(DistributedNotificationError) -> Void
        /// Ends the observation when it goes.
        var lifetime: any AnyObject & Sendable
        /// What was taken and not yet given to anybody. It is the stream's, not an iterator's, so that a loop that is left
        /// early loses nothing.
        @usableFromInline let batch = Batch<Element>()
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
        let take: @Sendable () -> [Delivery<Element>]? = {
            source.batch.rest()?.map(Delivery.element) ?? source.takeDeliveries()
        }
        return Notifications<Delivery<Element>>(
            .init(
                takeDeliveries: { take()?.map(Delivery.element) }, take: take, wait: source.wait,
                end: source.end,
                confirm: source.confirm, lifetime: source.lifetime))
    }

    /// Takes elements out of the stream.
    public struct Iterator: AsyncIteratorProtocol {
        @usableFromInline let source: Source

        init(_ source: Source) {
            self.source = source
        }

        /// The next element; nil at the end, and at once when the task is cancelled.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
            while !Task.isCancelled {
                if let element = source.batch.next() {
                    return element
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
            takeDeliveries: {
                channel.takeEntries()?.map { entry in
                    switch entry {
                    case .item(let item): read(item)
                    case .gap(let gap): .gap(gap)
                    }
                }
            },
            take: {
                guard let entries = channel.takeEntries() else { return nil }
                var elements: [Element] = []
                elements.reserveCapacity(entries.count)
                for entry in entries {
                    if case .item(let item) = entry, case .element(let element) = read(item) {
                        elements.append(element)
                    }
                }
                return elements
            },
            wait: { await channel.wait(isolation: $0) }, end: end, confirm: confirm, lifetime: lifetime)
    }
}

extension Notifications {
    /// Takes one element; unlike an iterator it may give up without ending the observation.
    package func next(waiting duration: Duration) async throws(DistributedNotificationError) -> Element {
        let reader = Task { () -> Result<Element, DistributedNotificationError> in
            while true {
                if let element = source.batch.next() {
                    return .success(element)
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
