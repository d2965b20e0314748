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
            if actions.isEmpty { return }
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
