/// Leads payloads to a navigator: finds the route of each and pushes it.
///
/// Look-ups run one at a time in the order in which payloads came, each within a time limit. Payloads that come before a
/// navigator is attached are parked, and played in order when one is; a limited number of them, for a limited
/// time. A payload that leads nowhere leaves the path as it is, and is told by ``failures``.
@MainActor public final class NotificationRouter<Route: Sendable> {
    private struct Parked {
        let number: Int
        let payload: UserInfo
        let expiry: Task<Void, Never>
    }

    private let finder: RouteFinder<Route>
    private let limit: Int
    private let expiry: Duration
    private let lookUpTimeout: Duration
    private let clock: any Clock<Duration>
    private let failed = Publisher<RoutingError>()

    private weak var navigator: Navigator<Route>?
    private var parked: [Parked] = []
    private var lastNumber = 0
    private var waiting: [UserInfo] = []
    private var isWorking = false

    /// A router without a navigator.
    ///
    /// - Parameters:
    ///   - finder: Knows the routes.
    ///   - limit: How many payloads are parked; one more is told as `tooManyParked`.
    ///   - expiry: How long a payload is parked; then it is told as `expired`.
    ///   - lookUpTimeout: How long a look-up may take. It is cancelled then, and not waited for.
    ///   - clock: Tells the time.
    public init(
        finder: RouteFinder<Route>, parking limit: Int = 32, expiry: Duration = .seconds(60),
        lookUpTimeout: Duration = .seconds(10), clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.finder = finder
        self.limit = limit
        self.expiry = expiry
        self.lookUpTimeout = lookUpTimeout
        self.clock = clock
    }

    isolated deinit {
        for item in parked { item.expiry.cancel() }
    }

    /// Payloads that led nowhere. Each access is a subscription of its own, from then on; it keeps the last 64 for a
    /// reader that is slow.
    public var failures: Notifications<RoutingError> {
        failed.subscribe()
    }

    /// The navigator is ready: plays what is parked, once and in order. It is held weakly; when it is gone payloads are
    /// parked again.
    public func attach(_ navigator: Navigator<Route>) {
        self.navigator = navigator
        for item in parked {
            item.expiry.cancel()
            waiting.append(item.payload)
        }
        parked = []
        work()
    }

    /// Takes a payload, after all that came before.
    public func handle(_ payload: UserInfo) {
        if navigator == nil {
            park(payload)
        } else {
            waiting.append(payload)
            work()
        }
    }

    /// Takes what notifications carry, until they end or the task is cancelled.
    public func run(_ payloads: Notifications<DistributedNotification>) async {
        for await notification in payloads { handle(notification.userInfo) }
    }

    private func fail(_ payload: UserInfo, _ reason: RoutingError.Reason) {
        report(RoutingError(kind: finder.kind(of: payload), reason: reason, payload: payload))
    }

    private func report(_ error: RoutingError) {
        for wake in failed.publish(error) { wake() }
    }

    private func park(_ payload: UserInfo) {
        guard parked.count < limit else {
            fail(payload, .tooManyParked)
            return
        }
        lastNumber += 1
        let number = lastNumber
        let expires = Task { [weak self, clock, expiry] in
            do {
                try await clock.sleep(for: expiry)
            } catch {
                return
            }
            self?.expire(number)
        }
        parked.append(Parked(number: number, payload: payload, expiry: expires))
    }

    private func expire(_ number: Int) {
        guard let index = parked.firstIndex(where: { $0.number == number }) else { return }
        fail(parked.remove(at: index).payload, .expired)
    }

    private func work() {
        guard !isWorking, !waiting.isEmpty else { return }
        isWorking = true
        Task {
            while !waiting.isEmpty { await play(waiting.removeFirst()) }
            isWorking = false
        }
    }

    private func play(_ payload: UserInfo) async {
        do throws(RoutingError) {
            let route = try await route(for: payload)
            if let navigator { navigator.push(route) } else { park(payload) }
        } catch {
            report(error)
        }
    }

    /// A look-up that does not heed its cancellation is left behind: it must not hold up the next.
    private func route(for payload: UserInfo) async throws(RoutingError) -> Route {
        let race = Race<Result<Route, RoutingError>>()
        let lookUp = Task { [finder] in
            do throws(RoutingError) {
                race.end(with: .success(try await finder.route(for: payload)))
            } catch {
                race.end(with: .failure(error))
            }
        }
        let timedOut = RoutingError(kind: finder.kind(of: payload), reason: .timedOut, payload: payload)
        let timer = Task { [clock, lookUpTimeout] in
            do {
                try await clock.sleep(for: lookUpTimeout)
            } catch {
                return
            }
            race.end(with: .failure(timedOut))
        }
        let result = await race.result()
        lookUp.cancel()
        timer.cancel()
        return try result.get()
    }
}

/// The first of several results.
@MainActor private final class Race<Value: Sendable> {
    private var value: Value?
    private var continuation: CheckedContinuation<Value, Never>?

    func end(with value: Value) {
        guard self.value == nil else { return }
        self.value = value
        continuation?.resume(returning: value)
        continuation = nil
    }

    /// To be awaited once.
    func result() async -> Value {
        await withCheckedContinuation { continuation in
            if let value { continuation.resume(returning: value) } else { self.continuation = continuation }
        }
    }
}
