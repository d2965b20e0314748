import ClientCore
import Endpoint
import Foundation
import UnixIO
import WireProtocol

/// What works behind a center: its state, and an I/O thread that starts when a connection is needed first.
///
/// A call takes the lock, decides, offers the kernel what waits, and leaves the rest to the I/O thread. Nothing of a user's
/// is called, and nobody resumed, while the lock is held.
final class CenterEngine: Sendable {
    typealias Event = DistributedNotificationCenter.Event
    typealias SuspensionBehavior = DistributedNotificationCenter.SuspensionBehavior

    /// Times are in nanoseconds.
    struct Bounds {
        /// How long a post outside tasks waits for room, and closing for the outbox to drain.
        var patience: UInt64 = 3_000_000_000
        /// How long `addObserver` waits for the broker, and an exiting process for its outboxes.
        var shortPatience: UInt64 = 1_000_000_000
        /// How long posts wait for a broker.
        var postLife: UInt64 = 30_000_000_000
        /// What waits for the broker at most, to which the last frame comes.
        var outboxBytes = 8 << 20
    }

    let place: SocketPath
    let bounds: Bounds
    let events: Publisher<Event>
    let methods = MethodObservers()
    private let state: Locked<CenterState>

    init(place: SocketPath, bounds: Bounds = Bounds()) {
        self.place = place
        self.bounds = bounds
        let events = Publisher<Event>()
        self.events = events
        state = Locked(
            CenterState(
                events: events, greeting: ProcessInfo.processInfo.processName, outboxBytes: bounds.outboxBytes
            ))
    }

    /// Runs `body` under the lock, offers the kernel what waits, and then does what `body` left for later.
    func withState<Value>(
        connecting: Bool = true,
        _ body: (inout CenterState, inout CenterState.Effects) -> sending Value
    ) -> Value {
        var effects = CenterState.Effects()
        let (value, waker, starts) = state.withLock { state in
            let value = body(&state, &effects)
            if connecting, case .idle = state.phase {
                let waker = start(&state, &effects)
                return (value, waker, waker != nil)
            }
            let isPending = state.write()
            return (value, state.needsWaking(isPending: isPending) ? state.waker : nil, false)
        }
        if starts, let waker {
            let thread = Thread {
                var loop = CenterLoop(engine: self, waker: waker)
                loop.run()
            }
            thread.name = "DistributedNotifications"
            thread.start()
        } else {
            waker?.wake()
        }
        effects.perform()
        return value
    }

    private func start(_ state: inout CenterState, _ effects: inout CenterState.Effects) -> Waker? {
        do throws(SystemError) {
            let waker = try Waker()
            state.waker = waker
            state.phase = .running
            ExitDrain.shared.add(self)
            return waker
        } catch {
            state.tell(
                .disconnected(.init(code: .notConnected, description: "no descriptor is left: \(error)")),
                &effects)
            return nil
        }
    }

    /// The I/O thread's way in: what it leaves for later is done when all that was read is handed out. True if reading
    /// must pause.
    func receive(_ message: BrokerMessage, _ effects: inout CenterState.Effects) -> Bool {
        state.withLock { state in
            state.receive(message, &effects)
            return state.isPaused
        }
    }

    func report(_ event: Event) {
        for wake in events.publish(event) { wake() }
    }

    /// Whether the caller may be made to wait: outside tasks, whose threads are few, and outside this center's callbacks,
    /// which must go on for room to come about.
    var callerMayWait: Bool {
        CallbackLane.center != ObjectIdentifier(self) && withUnsafeCurrentTask { $0 == nil }
    }

    func subscribeToEvents() -> Notifications<Event> {
        withState { state, _ in events.subscribe(startingWith: state.currentEvent) }
    }
}

// Posting.
extension CenterEngine {
    func post(_ post: Post) {
        var deadline: UInt64?
        while true {
            let now = MonotonicClock.now()
            let isLast = deadline.map { $0 <= now } ?? false
            switch withState({ state, effects in state.post(post, at: now, waiting: !isLast, &effects) }) {
            case nil: return
            case let room?:
                guard callerMayWait, !isLast else {
                    fail(post, .outboxFull)
                    return
                }
                let until = deadline ?? now + bounds.patience
                deadline = until
                _ = room.wait(timeout: .now() + .nanoseconds(Int(until - now)))
            }
        }
    }

    private func fail(_ post: Post, _ error: DistributedNotificationError) {
        report(.postFailed(Notification.Name(post.name), error))
    }
}

// Requests.
extension CenterEngine {
    func request(_ kind: Request.Kind) async throws(DistributedNotificationError) -> Request.Reply {
        let token = withState { state, _ in state.nextToken() }
        let result: Request.Result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                withState { state, effects in
                    if Task.isCancelled {
                        effects.then { continuation.resume(returning: .failure(.cancelled)) }
                    } else {
                        state.add(Request(kind: kind, continuation: continuation), token, &effects)
                    }
                }
            }
        } onCancel: {
            withState(connecting: false) { state, effects in
                state.finish(token, .failure(.cancelled), &effects)
            }
        }
        return try result.get()
    }
}

// Observers.
extension CenterEngine {
    /// The overflow that the broker is asked for is `wait` for all but channels that drop.
    func observe(
        _ names: ObservedNames, object: String?, overflow: Overflow = .wait, behavior: SuspensionBehavior,
        channel: Channel<ReceivedNotification>
    ) -> ObserverID {
        withState { state, effects in
            state.addObserver(
                Observation(names, object: object, overflow: overflow),
                .init(sink: .channel(channel), behavior: behavior), &effects)
        }
    }

    /// Outside tasks and callbacks it returns when the broker has confirmed, if there is one.
    func observe(
        _ names: ObservedNames, object: String?, behavior: SuspensionBehavior, place: CallbackLane.Place,
        callback: Callback
    ) -> ObserverID {
        let mayWait = callerMayWait
        let (id, blocker) = withState { state, effects -> (ObserverID, DispatchSemaphore?) in
            let (lane, key) = lane(place, &state)
            let id = state.addObserver(
                Observation(names, object: object),
                .init(sink: .callback(callback, lane, key), behavior: behavior), &effects)
            return (id, mayWait ? state.blocker(for: id) : nil)
        }
        _ = blocker?.wait(timeout: .now() + .nanoseconds(Int(bounds.shortPatience)))
        return id
    }

    private func lane(
        _ place: CallbackLane.Place, _ state: inout CenterState
    ) -> (CallbackLane, CenterState.LaneKey) {
        let key: CenterState.LaneKey =
            switch place {
            case .deliveryThread: .deliveryThread
            case .mainActor: .mainActor
            case .operations(let queue): .operations(ObjectIdentifier(queue))
            }
        let lane =
            state.lanes[key]?.lane
            ?? CallbackLane(
                place, center: ObjectIdentifier(self),
                hooks: .init(
                    onRoom: { [weak self] in self?.hasRoom($0) },
                    onUndecodable: { [weak self] in
                        self?.report(.undecodable(DistributedNotification(envelope: $0), $1))
                    },
                    onGone: { [weak self] in self?.removeObserver($0) }))
        state.lanes[key] = (lane, (state.lanes[key]?.users ?? 0) + 1)
        return (lane, key)
    }

    func removeObserver(_ id: ObserverID) {
        withState(connecting: false) { state, effects in state.removeObserver(id, &effects) }
    }

    /// A channel for a stream of this center.
    func makeChannel(_ buffering: Buffering) -> Channel<ReceivedNotification> {
        Channel(
            limit: buffering.limit, overflow: buffering.policy == .wait ? .wait : .dropNewest,
            hooks: .init(
                onRoom: { [weak self] in self?.hasRoom($0) }, onGap: { [weak self] in self?.report(.gap($0)) }
            ))
    }

    private func hasRoom(_ channel: ObjectIdentifier) {
        withState(connecting: false) { state, _ in _ = state.full.remove(channel) }
    }

    func confirm(_ id: ObserverID) async throws(DistributedNotificationError) {
        let token = withState { state, _ in state.nextToken() }
        let result: Result<Void, DistributedNotificationError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                withState { state, effects in
                    let result = Task.isCancelled ? .failure(.cancelled) : state.registration(of: id)
                    if let result {
                        effects.then { continuation.resume(returning: result) }
                    } else {
                        state.observers[id]?.confirmers[token] = continuation
                    }
                }
            }
        } onCancel: {
            withState(connecting: false) { state, effects in
                if let continuation = state.observers[id]?.confirmers.removeValue(forKey: token) {
                    effects.then { continuation.resume(returning: .failure(.cancelled)) }
                }
            }
        }
        try result.get()
    }

    var isSuspended: Bool {
        get { withState(connecting: false) { state, _ in state.isSuspended } }
        set {
            withState(connecting: false) { state, effects in
                state.isSuspended = newValue
                if !newValue { state.deliverHeld(&effects) }
            }
        }
    }
}

// The end.
extension CenterEngine {
    /// The I/O thread goes on until the outbox is empty, for as long as patience lasts.
    func shutDown() {
        let deadline = MonotonicClock.now() + bounds.patience
        withState(connecting: false) { state, effects in state.close(by: deadline, &effects) }
    }

    func close() async {
        let deadline = MonotonicClock.now() + bounds.patience
        await withCheckedContinuation { continuation in
            withState(connecting: false) { state, effects in
                if case .closed = state.phase {
                    effects.then { continuation.resume() }
                } else {
                    state.closers.append(continuation)
                    state.close(by: deadline, &effects)
                }
            }
        }
    }

    /// Something to wait on until the outbox is empty; nil if it is.
    func drainSignal() -> DispatchSemaphore? {
        withState(connecting: false) { state, _ in state.drainSignal() }
    }
}
