/// A token of an observation that lasts as long as somebody holds it.
final class ObservationBox: Sendable {
    private let task: Task<Void, Never>
    private let end: @Sendable () -> Void
    let confirm: @Sendable () async throws(DistributedNotificationError) -> Void

    init<Element>(
        _ stream: Notifications<Element>, _ block: @escaping @Sendable (Element) async -> Void
    ) {
        end = stream.source.end
        confirm = stream.source.confirm
        task = Task {
            for await element in stream { await block(element) }
        }
    }

    func cancel() {
        task.cancel()
        end()
    }

    deinit {
        cancel()
    }
}

extension DistributedNotificationCenter {
    /// An observation by a typed form. It ends when the last copy of its token is gone.
    public struct ObservationToken: Hashable, Sendable {
        let box: ObservationBox

        /// Ends the observation: no new call begins; the task of one under way is cancelled.
        public func cancel() {
            box.cancel()
        }

        /// Waits until the broker knows of the observation: nothing that is posted from then on is missed.
        ///
        /// - Throws: `refused` if the broker does not take the observer, `cancelled` if the task is cancelled, the
        ///   observation ended, or the center closed.
        public func confirmed() async throws(DistributedNotificationError) {
            try await box.confirm()
        }

        /// Whether both are tokens of one observation.
        public static func == (lhs: Self, rhs: Self) -> Bool { lhs.box === rhs.box }

        /// Feeds the token's identity to a hasher.
        public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(box)) }
    }

    /// Ends an observation, see ``ObservationToken/cancel()``.
    public func removeObserver(_ token: ObservationToken) {
        token.cancel()
    }
}
