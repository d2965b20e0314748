import ClientCore
import Foundation
import UnixIO
import WireProtocol

/// All that a center knows, under one lock.
///
/// Methods decide and note in ``Effects`` what is to happen once the lock is free: continuations to resume, jobs to start.
/// Channels and subscriptions have locks of their own, which are only ever taken inside this one.
struct CenterState {
    typealias Event = DistributedNotificationCenter.Event

    struct Effects: ~Copyable {
        private var actions: [@Sendable () -> Void] = []

        mutating func then(_ action: (@Sendable () -> Void)?) {
            if let action { actions.append(action) }
        }

        mutating func then(_ more: [@Sendable () -> Void]) {
            actions += more
        }

        mutating func perform() {
            let due = actions
            actions.removeAll(keepingCapacity: true)
            for action in due { action() }
        }
    }

    enum Phase {
        /// Nothing has needed a connection yet: there is no I/O thread.
        case idle
        case running
        /// Ends when the outbox is empty, or at this time.
        case closing(deadline: UInt64)
        case closed
    }

    enum Link {
        case untried
        case connected(Connection)
        case down(nextAttempt: UInt64)
        /// The broker wants nothing of this client.
        case refused(DistributedNotificationError)
    }

    struct Observer {
        enum Sink {
            case channel(Channel<ReceivedNotification>)
            case callback(Callback, CallbackLane, LaneKey)
        }

        enum Registration {
            case waiting
            case confirmed
            case refused(DistributedNotificationError)
        }

        let sink: Sink
        let behavior: DistributedNotificationCenter.SuspensionBehavior
        var registration = Registration.waiting
        var wasConfirmed = false
        var confirmers: [UInt64: CheckedContinuation<Result<Void, DistributedNotificationError>, Never>] = [:]
        var blockers: [DispatchSemaphore] = []
    }

    /// What the I/O thread waits for at the moment.
    struct Watch {
        var reading = false
        var writing = false
    }

    enum LaneKey: Hashable {
        case deliveryThread
        case mainActor
        case operations(ObjectIdentifier)
    }

    let events: Publisher<Event>
    let outboxBytes: Int
    var phase = Phase.idle
    var waker: Waker?
    var watch = Watch()
    var link = Link.untried
    /// The broker reads no more; what it has written may still be read.
    var isWriteClosed = false
    var session: ClientSession
    /// What a new subscriber of the events hears first.
    var currentEvent: Event?
    var instance = ""
    var limits = Limits()

    var observers: [ObserverID: Observer] = [:]
    var lanes: [LaneKey: (lane: CallbackLane, users: Int)] = [:]
    var isSuspended = false
    var held = HeldQueue()
    /// Channels that have told to be full.
    var full: Set<ObjectIdentifier> = []
    var hasToldGap = false

    var requests: [UInt64: Request] = [:]
    var asked: [RequestID: UInt64] = [:]
    /// Posts that ask for an answer only so that a refusal can be told with the name.
    var watchedPosts: [RequestID: String] = [:]
    var lastToken: UInt64 = 0

    var roomWaiters: [DispatchSemaphore] = []
    var drainWaiters: [DispatchSemaphore] = []
    var closers: [CheckedContinuation<Void, Never>] = []

    init(events: Publisher<Event>, greeting: String, outboxBytes: Int) {
        self.events = events
        self.outboxBytes = outboxBytes
        session = ClientSession(greeting: greeting)
    }

    /// What a broker that has closed leaves to read is little, and has to be read for the connection to be made again.
    var isPaused: Bool { !full.isEmpty && !session.awaitsAnswers && !isWriteClosed }

    var isOpen: Bool {
        switch phase {
        case .idle, .running: true
        case .closing, .closed: false
        }
    }

    mutating func nextToken() -> UInt64 {
        lastToken += 1
        return lastToken
    }

    func tell(_ event: Event, _ effects: inout Effects) {
        effects.then(events.publish(event))
    }

    mutating func tellState(_ event: Event, _ effects: inout Effects) {
        currentEvent = event
        tell(event, &effects)
    }
}

// Writing.
extension CenterState {
    var hasRoom: Bool { session.unsentCount < outboxBytes }

    /// Offers the kernel what waits. True if something is left that the I/O thread must see to.
    mutating func write() -> Bool {
        guard case .connected(let connection) = link, !isWriteClosed else { return false }
        while session.unsentCount > 0 {
            switch session.withUnsent({ connection.socket.write($0) }) {
            case .bytes(let count): session.kernelTook(count)
            case .wouldBlock: return true
            case .closed, .failed:
                isWriteClosed = true
                return false
            }
            if hasRoom {
                for waiter in roomWaiters { waiter.signal() }
                roomWaiters = []
            }
        }
        for waiter in drainWaiters { waiter.signal() }
        drainWaiters = []
        return false
    }
}

// The connection's life.
extension CenterState {
    mutating func connected(_ connection: Connection, at now: UInt64) {
        session.connected(at: now)
        isWriteClosed = false
        link = .connected(connection)
        hasToldGap = false
        for token in requests.keys.sorted() where !asked.values.contains(token) {
            ask(token, at: now)
        }
    }

    mutating func connectingFailed(
        _ error: DistributedNotificationError, at now: UInt64, _ effects: inout Effects
    ) {
        var generator = SystemRandomNumberGenerator()
        let isFirst = if case .untried = link { true } else { false }
        let delay = session.connectingFailed(using: &generator)
        if isFirst { tell(.disconnected(error), &effects) }
        retry(after: delay, at: now, &effects)
    }

    mutating func connectionEnded(
        _ error: DistributedNotificationError, at now: UInt64, _ effects: inout Effects
    ) {
        var generator = SystemRandomNumberGenerator()
        let end = session.connectionEnded(at: now, using: &generator)
        for (id, _) in end.lost {
            lost(id, &effects)
        }
        for id in observers.keys {
            if case .confirmed = observers[id]?.registration { observers[id]?.registration = .waiting }
        }
        let reason =
            end.goodbye.map {
                DistributedNotificationError(
                    code: $0.reason == .refused ? .refused : .notConnected, brokerCode: $0.reason?.rawValue,
                    description: $0.message)
            } ?? error
        switch end.next {
        case .reconnect(let delay):
            tell(.disconnected(reason), &effects)
            retry(after: delay, at: now, &effects)
        case .stayAway:
            link = .refused(reason)
            tellState(.disconnected(reason), &effects)
            releaseBlockers()
        }
    }

    private mutating func retry(after delay: Duration, at now: UInt64, _ effects: inout Effects) {
        let (seconds, attoseconds) = delay.components
        link = .down(nextAttempt: now + UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000))
        tellState(.retrying(attempt: session.attempt, after: delay), &effects)
        releaseBlockers()
    }

    private mutating func releaseBlockers() {
        for id in observers.keys {
            for blocker in observers[id]?.blockers ?? [] { blocker.signal() }
            observers[id]?.blockers = []
        }
    }

    mutating func expireAll(_ effects: inout Effects) {
        if case .connected = link { return }
        expirePosts(before: .max, &effects)
    }

    mutating func expirePosts(before limit: UInt64, _ effects: inout Effects) {
        for post in session.expirePosts(before: limit) {
            let error: DistributedNotificationError =
                if case .refused(let reason) = link { reason } else { .notDelivered }
            if let id = post.id, let token = asked.removeValue(forKey: id) {
                finish(token, .failure(error), &effects)
            } else {
                if let id = post.id { watchedPosts[id] = nil }
                tell(.postFailed(Notification.Name(post.name), error), &effects)
            }
        }
    }
}

// Requests.
extension CenterState {
    mutating func ask(_ token: UInt64, at now: UInt64) {
        guard let request = requests[token] else { return }
        let id: RequestID? =
            switch request.kind {
            case .send(let post): session.send(post, at: now)
            case .flush: session.ping()
            case .awaitObservers(let name, let object, let count):
                session.awaitObservers(of: name, object: object, count: count)
            }
        if let id { asked[id] = token }
    }

    mutating func finish(_ token: UInt64, _ result: Request.Result, _ effects: inout Effects) {
        guard let request = requests.removeValue(forKey: token) else { return }
        effects.then { request.continuation.resume(returning: result) }
    }

    private mutating func lost(_ id: RequestID, _ effects: inout Effects) {
        if let name = watchedPosts.removeValue(forKey: id) {
            tell(.postFailed(Notification.Name(name), .outcomeUnknown), &effects)
        }
        guard let token = asked.removeValue(forKey: id), let request = requests[token] else { return }
        switch request.kind {
        case .send, .flush: finish(token, .failure(.outcomeUnknown), &effects)
        case .awaitObservers: break
        }
    }

    private mutating func answered(_ id: RequestID, _ answer: Answer, _ effects: inout Effects) {
        let result: Request.Result
        switch answer {
        case .ok(let ok):
            result = .success(.init(seq: ok.seq ?? 0, receivers: ok.receivers ?? 0, brokerInstance: instance))
        case .status: result = .success(.init(seq: 0, receivers: 0, brokerInstance: instance))
        case .refused(let refusal): result = .failure(DistributedNotificationError(refusal))
        }
        if let name = watchedPosts.removeValue(forKey: id), case .failure(let error) = result {
            tell(.postFailed(Notification.Name(name), error), &effects)
        }
        if let token = asked.removeValue(forKey: id) {
            finish(token, result, &effects)
        }
    }
}

// What comes in.
extension CenterState {
    mutating func receive(_ message: BrokerMessage, _ effects: inout Effects) {
        guard let event = session.receive(message) else { return }
        switch event {
        case .welcomed(let welcome):
            instance = welcome.instance
            limits = welcome.limits
            tellState(.connected(brokerInstance: welcome.instance), &effects)
        case .answered(let id, let answer): answered(id, answer, &effects)
        case .observing(let id): observing(id, &effects)
        case .stoppedObserving: break
        case .observerRefused(let id, let refusal):
            observerRefused(id, DistributedNotificationError(refusal), &effects)
        case .refused(let refusal):
            tell(.postFailed(Notification.Name(""), DistributedNotificationError(refusal)), &effects)
        case .notification(let notification, let ids): dispatch(notification, ids, &effects)
        case .gap(let missing):
            let gap = Gap(count: missing.count, cause: .broker)
            for observer in observers.values { push(gap, to: observer, &effects) }
            tell(.gap(gap), &effects)
        case .goodbye: isWriteClosed = true
        }
    }

    private mutating func observing(_ id: ObserverID, _ effects: inout Effects) {
        guard var observer = observers[id] else { return }
        let confirmers = observer.confirmers
        let blockers = observer.blockers
        let isBack = observer.wasConfirmed
        observer.confirmers = [:]
        observer.blockers = []
        observer.wasConfirmed = true
        observer.registration = .confirmed
        observers[id] = observer
        for blocker in blockers { blocker.signal() }
        for confirmer in confirmers.values { effects.then { confirmer.resume(returning: .success(())) } }
        guard isBack else { return }
        let gap = Gap(count: nil, cause: .reconnection)
        push(gap, to: observer, &effects)
        if !hasToldGap {
            hasToldGap = true
            tell(.gap(gap), &effects)
        }
    }

    private mutating func observerRefused(
        _ id: ObserverID, _ error: DistributedNotificationError, _ effects: inout Effects
    ) {
        tell(.observerRefused(error), &effects)
        guard let observer = observers[id] else { return }
        observers[id]?.registration = .refused(error)
        observers[id]?.confirmers = [:]
        observers[id]?.blockers = []
        for blocker in observer.blockers { blocker.signal() }
        for confirmer in observer.confirmers.values {
            effects.then { confirmer.resume(returning: .failure(error)) }
        }
        if case .channel(let channel) = observer.sink { effects.then(channel.finish()) }
    }

    private mutating func dispatch(
        _ notification: ReceivedNotification, _ ids: [ObserverID], _ effects: inout Effects
    ) {
        if isSuspended && !notification.deliversImmediately {
            guard ids.contains(where: { observers[$0]?.behavior == .deliverImmediately }) else {
                hold(notification, for: ids)
                return
            }
            // As if the center were resumed, the notification delivered, and the center suspended again.
            deliverHeld(&effects)
        }
        for id in ids { deliver(notification, to: id, &effects) }
    }

    private mutating func hold(_ notification: ReceivedNotification, for ids: [ObserverID]) {
        for id in ids {
            switch observers[id]?.behavior {
            case .hold: held.hold(notification, for: id)
            case .coalesce: held.coalesce(notification, for: id)
            case .drop, .deliverImmediately, nil: break
            }
        }
    }

    mutating func deliverHeld(_ effects: inout Effects) {
        let (entries, missed) = held.takeAll()
        for (id, count) in missed {
            let gap = Gap(count: count, cause: .heldQueue)
            if let observer = observers[id] { push(gap, to: observer, &effects) }
            tell(.gap(gap), &effects)
        }
        for entry in entries { deliver(entry.notification, to: entry.observer, &effects) }
    }

    private mutating func deliver(
        _ notification: ReceivedNotification, to id: ObserverID, _ effects: inout Effects
    ) {
        guard let observer = observers[id] else { return }
        switch observer.sink {
        case .channel(let channel):
            let pushed = channel.push(notification, bytes: notification.cost)
            if pushed.becameFull { full.insert(ObjectIdentifier(channel)) }
            if let gap = pushed.gap { tell(.gap(gap), &effects) }
            effects.then(pushed.wake)
        case .callback(let callback, let lane, _):
            let item = CallbackLane.Item(observer: id, callback: callback, notification: notification)
            let pushed = lane.channel.push(item, bytes: notification.cost)
            if pushed.becameFull { full.insert(ObjectIdentifier(lane.channel)) }
            if let gap = pushed.gap { tell(.gap(gap), &effects) }
            if pushed.foundIdle { effects.then { lane.schedule() } }
        }
    }

    private func push(_ gap: Gap, to observer: Observer, _ effects: inout Effects) {
        if case .channel(let channel) = observer.sink { effects.then(channel.push(gap).wake) }
    }

    /// No new call of it begins from here on.
    mutating func removeObserver(_ id: ObserverID, _ effects: inout Effects) {
        guard let observer = observers.removeValue(forKey: id) else { return }
        session.stopObserving(id)
        held.forget(id)
        // What the user's closures hold must not be let go of under the lock: its end may call the center.
        let lanes = lanes
        effects.then { withExtendedLifetime((observer, lanes)) {} }
        for blocker in observer.blockers { blocker.signal() }
        for confirmer in observer.confirmers.values {
            effects.then { confirmer.resume(returning: .failure(.cancelled)) }
        }
        switch observer.sink {
        case .callback(let callback, _, let key):
            callback.deactivate()
            self.lanes[key]?.users -= 1
            if self.lanes[key]?.users == 0 { self.lanes[key] = nil }
        case .channel(let channel):
            full.remove(ObjectIdentifier(channel))
            effects.then(channel.finish())
        }
    }
}

// What the engine asks for.
extension CenterState {
    func needsWaking(isPending: Bool) -> Bool {
        switch (phase, link) {
        case (.closing, _): true
        case (.running, .connected): (isPending && !watch.writing) || (!isPaused && !watch.reading)
        case (.running, _), (.idle, _), (.closed, _): false
        }
    }

    /// Returns what to wait on if there is no room.
    mutating func post(
        _ post: Post, at now: UInt64, waiting: Bool, _ effects: inout Effects
    ) -> DispatchSemaphore? {
        if let error = refusal(of: post) {
            tell(.postFailed(Notification.Name(post.name), error), &effects)
            return nil
        }
        guard hasRoom else {
            let room = DispatchSemaphore(value: 0)
            if waiting { roomWaiters.append(room) }
            return room
        }
        if post.retention == .none {
            session.post(post, at: now)
        } else {
            watchedPosts[session.send(post, at: now)] = post.name
        }
        return nil
    }

    private func refusal(of post: Post) -> DistributedNotificationError? {
        if case .refused(let reason) = link { return reason }
        guard isOpen else { return .closed }
        let size = post.name.utf8.count + (post.object?.utf8.count ?? 0) + (post.userInfo?.count ?? 0)
        guard size <= limits.frameBytes else {
            return .init(
                code: .tooLarge,
                description: "\(size) bytes are more than the \(limits.frameBytes) of a frame")
        }
        return nil
    }

    mutating func add(_ request: Request, _ token: UInt64, _ effects: inout Effects) {
        requests[token] = request
        guard isOpen else {
            finish(token, .failure(.closed), &effects)
            return
        }
        if case .refused(let reason) = link {
            finish(token, .failure(reason), &effects)
            return
        }
        if case .send(let post) = request.kind {
            if let error = refusal(of: post) ?? (hasRoom ? nil : .outboxFull) {
                finish(token, .failure(error), &effects)
                return
            }
        }
        ask(token, at: MonotonicClock.now())
    }

    mutating func addObserver(
        _ observation: Observation, _ observer: Observer, _ effects: inout Effects
    ) -> ObserverID {
        let id = session.observe(observation)
        observers[id] = observer
        if !isOpen, case .channel(let channel) = observer.sink { effects.then(channel.finish()) }
        return id
    }

    /// Something to wait on until the broker has confirmed, if it can be expected to.
    mutating func blocker(for id: ObserverID) -> DispatchSemaphore? {
        switch link {
        case .untried, .connected:
            guard isOpen else { return nil }
            let blocker = DispatchSemaphore(value: 0)
            observers[id]?.blockers.append(blocker)
            return blocker
        case .down, .refused: return nil
        }
    }

    /// nil while it is not decided.
    func registration(of id: ObserverID) -> Result<Void, DistributedNotificationError>? {
        guard isOpen, let observer = observers[id] else { return .failure(.closed) }
        switch observer.registration {
        case .waiting: return nil
        case .confirmed: return .success(())
        case .refused(let error): return .failure(error)
        }
    }

    mutating func close(by deadline: UInt64, _ effects: inout Effects) {
        switch phase {
        case .idle:
            phase = .closed
            end(&effects)
        case .running:
            phase = .closing(deadline: deadline)
            for id in Array(observers.keys) { removeObserver(id, &effects) }
        case .closing, .closed: break
        }
    }

    /// Tells everybody who waits for something.
    mutating func end(_ effects: inout Effects) {
        phase = .closed
        for id in Array(observers.keys) { removeObserver(id, &effects) }
        for token in Array(requests.keys) { finish(token, .failure(.closed), &effects) }
        for waiter in roomWaiters + drainWaiters { waiter.signal() }
        roomWaiters = []
        drainWaiters = []
        let waiting = closers
        closers = []
        effects.then { for closer in waiting { closer.resume() } }
        effects.then(events.finish())
    }

    mutating func drainSignal() -> DispatchSemaphore? {
        guard isOpen || session.unsentCount > 0, session.unsentCount > 0 else { return nil }
        if case .closed = phase { return nil }
        let signal = DispatchSemaphore(value: 0)
        drainWaiters.append(signal)
        return signal
    }
}
