package import WireProtocol

/// What a client of the broker is, over all its connections, without any I/O.
///
/// Its driver owns the socket. It tells `connected` and `connectionEnded`, writes what `withUnsent` holds and
/// reports it with `kernelTook`, and hands each frame that comes to `receive`, which says what it means. `hello`
/// and the observers are said first on each connection, without waiting for answers; then what waited in the
/// outbox. Observers and unsent posts outlive a connection; other requests end with it, see `ConnectionEnd`.
///
/// Moments are nanoseconds of a clock that never goes back.
package struct ClientSession: Sendable {
    private enum State: Sendable {
        case disconnected
        case connected(since: UInt64)
        case dismissed(since: UInt64, Goodbye)
    }

    private let greeting: String?
    private var state = State.disconnected
    private var outbox = Outbox()
    private var pending = PendingRequests()
    private var observers = ObserverTable()
    private var instance: String?
    private var schedule: ReconnectSchedule

    /// With a greeting, what the client calls itself, each connection begins with `hello`. Only then the broker's
    /// instance is known, and so whether a retained notification that comes after a reconnection came before.
    package init(greeting: String?, schedule: ReconnectSchedule = ReconnectSchedule()) {
        self.greeting = greeting
        self.schedule = schedule
    }

    package var isConnected: Bool {
        switch state {
        case .connected: true
        case .disconnected, .dismissed: false
        }
    }

    /// Whether the broker has confirmed every observer on this connection.
    package var isObservingAll: Bool { isConnected && observers.unconfirmedCount == 0 }

    /// Whether a request's answer is outstanding, observers' included.
    package var awaitsAnswers: Bool { !pending.isEmpty }

    /// How often in a row no lasting connection came about.
    package var attempt: Int { schedule.attempt }
}

// The connection's life.
extension ClientSession {
    package mutating func connected(at now: UInt64) {
        switch state {
        case .disconnected: break
        case .connected, .dismissed: preconditionFailure("connected in the state \(state)")
        }
        state = .connected(since: now)
        let waiting = outbox
        outbox = Outbox()
        if let greeting {
            request(.hello) { RequestEncoder.hello(client: greeting, id: $0, to: &$1) }
        } else {
            instance = nil
            observers.forgetSeen()
        }
        for (observer, observation) in observers.all {
            sayObserver(observer, observation)
        }
        let opening = outbox
        outbox = waiting
        outbox.open(with: opening)
    }

    /// The connection is gone, for whatever reason.
    package mutating func connectionEnded(
        at now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> ConnectionEnd {
        let began: UInt64
        var goodbye: Goodbye?
        switch state {
        case .disconnected: preconditionFailure("connectionEnded without a connection")
        case .connected(let since): began = since
        case .dismissed(let since, let said): (began, goodbye) = (since, said)
        }
        state = .disconnected
        schedule.connectionEnded(after: .nanoseconds(Int64(clamping: now - min(began, now))))
        observers.connectionEnded()

        let unsent = outbox.connectionEnded()
        var lost: [(id: RequestID, outcome: ConnectionEnd.Outcome)] = []
        for (id, request) in pending.removeAll(but: unsent) {
            switch request {
            case .post: lost.append((id, .unknown))
            case .other, .await: lost.append((id, .unanswered))
            case .hello, .observe, .stopObserving: break
            }
        }
        let next: ConnectionEnd.NextStep =
            goodbye?.reason == .refused
            ? .stayAway : .reconnect(after: schedule.nextDelay(using: &generator))
        return ConnectionEnd(lost: lost, goodbye: goodbye, next: next)
    }

    /// No connection came about. Returns how long to wait before the next attempt.
    package mutating func connectingFailed(using generator: inout some RandomNumberGenerator) -> Duration {
        schedule.nextDelay(using: &generator)
    }
}

// What goes out.
extension ClientSession {
    /// Bytes that wait for the kernel.
    package var unsentCount: Int { outbox.unsentCount }

    package func withUnsent<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        outbox.withUnsent(body)
    }

    package mutating func kernelTook(_ count: Int) {
        outbox.kernelTook(count)
    }

    /// Gives up the posts that have waited for a connection since before `limit`.
    package mutating func expirePosts(before limit: UInt64) -> [UnsentPost] {
        guard case .disconnected = state else { return [] }
        let expired = outbox.expire(before: limit)
        for post in expired {
            if let id = post.id { _ = pending.remove(id) }
        }
        return expired
    }

    /// The id that the next request gets.
    package var nextNumber: UInt64 { pending.nextNumber }

    /// Posts without asking for an answer. Waits in the outbox where there is no connection.
    package mutating func post(_ post: Post, at now: UInt64) {
        outbox.append(.post(name: post.name, since: now), id: nil) {
            RequestEncoder.post(post, id: nil, to: &$0)
        }
    }

    /// The same, but where nothing else waits for the kernel the frame is offered to `write` first: it answers how many
    /// bytes the kernel took.
    package mutating func post(_ post: Post, at now: UInt64, _ write: (UnsafeRawBufferPointer) -> Int) {
        var taken = 0
        if isConnected, outbox.isEmpty {
            taken = post.frame.withUnsafeBytes(write)
            if taken == post.frame.count { return }
        }
        self.post(post, at: now)
        if taken > 0 { outbox.kernelTook(taken) }
    }

    /// Posts, and asks for the broker's answer.
    package mutating func send(_ post: Post, at now: UInt64) -> RequestID {
        let id = pending.add(.post)
        outbox.append(.post(name: post.name, since: now), id: id) {
            RequestEncoder.post(post, id: id.number, to: &$0)
        }
        return id
    }

    /// These need a connection; nil without one.
    package mutating func ping() -> RequestID? {
        bound { RequestEncoder.ping(id: $0, to: &$1) }
    }

    package mutating func status(detail: Bool) -> RequestID? {
        bound { RequestEncoder.status(detail: detail, id: $0, to: &$1) }
    }

    package mutating func stop() -> RequestID? {
        bound { RequestEncoder.stop(id: $0, to: &$1) }
    }

    package mutating func awaitObservers(of name: String, object: String?, count: UInt64) -> RequestID? {
        bound(.await) {
            RequestEncoder.awaitObservers(name: name, object: object, count: count, id: $0, to: &$1)
        }
    }

    private mutating func bound(
        _ kind: PendingRequests.Kind = .other, _ encode: (UInt64, inout [UInt8]) -> Void
    ) -> RequestID? {
        isConnected ? request(kind, encode) : nil
    }

    @discardableResult
    private mutating func request(
        _ kind: PendingRequests.Kind, _ encode: (UInt64, inout [UInt8]) -> Void
    ) -> RequestID {
        let id = pending.add(kind)
        outbox.append(.boundToConnection, id: id) { encode(id.number, &$0) }
        return id
    }
}

// Observers.
extension ClientSession {
    /// Registers an observer, and says it to the broker now or with the next connection.
    package mutating func observe(_ observation: Observation) -> ObserverID {
        let observer = observers.add(observation)
        if isConnected {
            sayObserver(observer, observation)
        }
        return observer
    }

    /// No event names this observer as a receiver any more.
    package mutating func stopObserving(_ observer: ObserverID) {
        guard observers.remove(observer), isConnected else { return }
        request(.stopObserving(observer)) { RequestEncoder.removeObserver(observer.label, id: $0, to: &$1) }
    }

    /// How the broker treats all observers from the next connection on.
    package mutating func setOverflow(_ overflow: Overflow) {
        observers.setOverflow(overflow)
    }

    private mutating func sayObserver(_ observer: ObserverID, _ observation: Observation) {
        request(.observe(observer)) { id, bytes in
            RequestEncoder.addObserver(
                observer.label, names: observation.names, object: observation.object,
                overflow: observation.overflow, id: id, to: &bytes)
        }
    }
}

// What comes in.
extension ClientSession {
    /// What the next message means; nil where it means nothing to this client.
    package mutating func receive(_ message: BrokerMessage) -> ClientEvent? {
        switch state {
        case .disconnected: preconditionFailure("receive without a connection")
        case .dismissed: nil
        case .connected(let since): interpret(message, since: since)
        }
    }

    private mutating func interpret(_ message: BrokerMessage, since: UInt64) -> ClientEvent? {
        switch message {
        case .welcome(let welcome):
            if let id = welcome.id { _ = pending.remove(RequestID(number: id)) }
            if instance != welcome.instance {
                observers.forgetSeen()
                instance = welcome.instance
            }
            return .welcomed(welcome)
        case .ok(let acknowledgement):
            return answered(acknowledgement.id, .ok(acknowledgement))
        case .status(let report):
            return answered(report.id, .status(report))
        case .error(let refusal):
            guard let id = refusal.id else { return .refused(refusal) }
            return answered(id, .refused(refusal))
        case .notification(let notification):
            let receivers = observers.receivers(of: notification)
            return receivers.isEmpty ? nil : .notification(notification, receivers)
        case .gap(let gap):
            return .gap(gap)
        case .goodbye(let goodbye):
            state = .dismissed(since: since, goodbye)
            return .goodbye(goodbye)
        case .unknown:
            return nil
        }
    }

    private mutating func answered(_ number: UInt64, _ answer: Answer) -> ClientEvent? {
        let id = RequestID(number: number)
        guard let request = pending.remove(id) else { return nil }
        switch (request, answer) {
        case (.observe(let observer), .refused(let refusal)):
            return observers.remove(observer) ? .observerRefused(observer, refusal) : nil
        case (.observe(let observer), .ok), (.observe(let observer), .status):
            return observers.confirm(observer) ? .observing(observer) : nil
        case (.stopObserving(let observer), _):
            return .stoppedObserving(observer)
        case (.hello, .refused(let refusal)):
            return .refused(refusal)
        case (.hello, .ok), (.hello, .status):
            return nil
        case (.post, _), (.other, _), (.await, _):
            return .answered(id, answer)
        }
    }
}
