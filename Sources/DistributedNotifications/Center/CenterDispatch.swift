import ClientCore
import Foundation
import UnixIO
import WireProtocol

// What comes in, and whom it is for.
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

    mutating func observing(_ id: ObserverID, _ effects: inout Effects) {
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

    mutating func observerRefused(
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

    mutating func dispatch(
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

    mutating func hold(_ notification: ReceivedNotification, for ids: [ObserverID]) {
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

    mutating func deliver(
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

    func push(_ gap: Gap, to observer: Observer, _ effects: inout Effects) {
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
}
