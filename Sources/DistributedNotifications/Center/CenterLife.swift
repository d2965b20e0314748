import ClientCore
import Foundation
import UnixIO
import WireProtocol

// The connection's life, and the center's.
extension CenterState {
    // It changes nothing, but as a mutating method it gets no copy of all this, once for each post.
    mutating func needsWaking(isPending: Bool) -> Bool {
        switch (phase, link) {
        case (.closing, _): true
        case (.running, .connected): (isPending && !watch.writing) || (!isPaused && !watch.reading)
        case (.running, _), (.idle, _), (.closed, _): false
        }
    }

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

    mutating func retry(after delay: Duration, at now: UInt64, _ effects: inout Effects) {
        link = .down(nextAttempt: now + delay.nanoseconds)
        tellState(.retrying(attempt: session.attempt, after: delay), &effects)
        releaseBlockers()
    }

    mutating func releaseBlockers() {
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
        roomWaiters.signalAll()
        drainWaiters.signalAll()
        let waiting = closers
        closers = []
        effects.then { for closer in waiting { closer.resume() } }
        effects.then(events.finish())
    }

    mutating func drainSignal() -> DispatchSemaphore? {
        guard session.unsentCount > 0 else { return nil }
        if case .closed = phase { return nil }
        let signal = DispatchSemaphore(value: 0)
        drainWaiters.append(signal)
        return signal
    }
}
