import Foundation
import Observation
import Testing

@testable import DistributedNotifications

@Suite(.timeLimit(.minutes(5))) struct RouteFinderTests {
    enum Screen: Hashable { case second, product(String) }
    struct ProductDetails: RoutePayload {
        static let kind = "productDetails"
        var id: String
        enum CodingKeys: String, CodingKey { case id = "Id" }
    }
    struct Broken: Error {}

    static func finder() -> RouteFinder<Screen> {
        var finder = RouteFinder<Screen>()
        finder.register(ProductDetails.self) { push in
            switch push.id {
            case "broken": throw Broken()
            case "none": nil
            default: .product(push.id)
            }
        }
        finder.register("second") { _ in .second }
        finder.register("strict") { payload in
            let name: String = try payload.value(for: "name")
            return .product(name)
        }
        return finder
    }

    @Test("a payload leads to its route")
    func found() async throws {
        let finder = Self.finder()
        #expect(
            try await finder.route(for: ["NotificationType": "productDetails", "Id": "42"]) == .product("42"))
        #expect(try await finder.route(for: ["NotificationType": "second"]) == .second)
        #expect(try await finder.route(for: ["NotificationType": "strict", "name": "x"]) == .product("x"))
    }

    static let failures: [(UserInfo, String)] = [
        (["Id": "42"], "noKind"), (["NotificationType": 5], "invalidMember(path: \"NotificationType\")"),
        (["NotificationType": "other"], "unknownKind"),
        (["NotificationType": "productDetails"], "invalidMember(path: \"Id\")"),
        (["NotificationType": "productDetails", "Id": 42], "invalidMember(path: \"Id\")"),
        (["NotificationType": "strict"], "invalidMember(path: \"name\")"),
        (["NotificationType": "productDetails", "Id": "none"], "notFound"),
    ]

    @Test("a payload that leads nowhere says why", arguments: failures)
    func failing(payload: UserInfo, reason: String) async {
        do {
            let route = try await Self.finder().route(for: payload)
            Issue.record("\(route)")
        } catch {
            #expect("\(error.reason)" == reason)
            #expect(error.payload == payload)
        }
    }

    @Test("what a look-up throws is kept")
    func lookUpFailed() async {
        do {
            _ = try await Self.finder().route(for: ["NotificationType": "productDetails", "Id": "broken"])
            Issue.record("found")
        } catch {
            guard case .lookUpFailed(let cause) = error.reason else {
                Issue.record("\(error)")
                return
            }
            #expect(cause is Broken)
            #expect(error.kind == "productDetails")
        }
    }
}

@Suite(.timeLimit(.minutes(5))) @MainActor struct NotificationRouterTests {
    typealias Screen = RouteFinderTests.Screen

    private func payload(_ id: String) -> UserInfo { ["NotificationType": "slow", "Id": id] }

    /// Look-ups that wait until the test lets them go.
    private actor Gate {
        private var open: Set<String> = []
        private var waiting: [String: CheckedContinuation<Void, Never>] = [:]
        private(set) var began: [String] = []

        func pass(_ id: String) async {
            began.append(id)
            if open.contains(id) { return }
            await withCheckedContinuation { waiting[id] = $0 }
        }

        func open(_ id: String) {
            open.insert(id)
            waiting.removeValue(forKey: id)?.resume()
        }
    }

    private func finder(_ gate: Gate) -> RouteFinder<Screen> {
        var finder = RouteFinder<Screen>()
        finder.register("slow") { payload in
            let id: String = try payload.value(for: "Id")
            await gate.pass(id)
            return .product(id)
        }
        return finder
    }

    private func path(_ navigator: Navigator<Screen>, count: Int) async -> [Screen] {
        while navigator.path.count < count {
            let changes = Observations { navigator.path.count }
            for await value in changes where value >= count { break }
        }
        return navigator.path
    }

    private func next(_ failures: Notifications<RoutingError>) async -> RoutingError? {
        for await failure in failures { return failure }
        return nil
    }

    @Test("look-ups run one at a time, in the order of arrival")
    func order() async {
        let gate = Gate()
        let router = NotificationRouter(finder: finder(gate), clock: ManualClock())
        let navigator = Navigator<Screen>()
        router.attach(navigator)
        for id in ["1", "2", "3"] { router.handle(payload(id)) }
        await gate.open("2")
        await gate.open("3")
        await gate.open("1")
        #expect(await path(navigator, count: 3) == [.product("1"), .product("2"), .product("3")])
        #expect(await gate.began == ["1", "2", "3"])
    }

    @Test("a look-up that takes too long is told, and does not hold up the next")
    func timeout() async {
        let gate = Gate()
        let clock = ManualClock()
        let router = NotificationRouter(finder: finder(gate), lookUpTimeout: .seconds(10), clock: clock)
        let navigator = Navigator<Screen>()
        let failures = router.failures
        router.attach(navigator)
        router.handle(payload("1"))
        router.handle(payload("2"))
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        let failure = await next(failures)
        guard case .timedOut = failure?.reason else {
            Issue.record("\(String(describing: failure))")
            return
        }
        await gate.open("2")
        #expect(await path(navigator, count: 1) == [.product("2")])
        await gate.open("1")
    }

    @Test("what comes before the navigator is played once, in order")
    func parking() async {
        let gate = Gate()
        for id in ["1", "2", "3"] { await gate.open(id) }
        let router = NotificationRouter(finder: finder(gate), clock: ManualClock())
        router.handle(payload("1"))
        router.handle(payload("2"))
        let navigator = Navigator<Screen>()
        router.attach(navigator)
        router.attach(navigator)
        router.handle(payload("3"))
        #expect(await path(navigator, count: 3) == [.product("1"), .product("2"), .product("3")])
        #expect(await gate.began == ["1", "2", "3"])
    }

    @Test("what is parked expires, and too much is refused")
    func expiry() async {
        let gate = Gate()
        await gate.open("3")
        let clock = ManualClock()
        let router = NotificationRouter(finder: finder(gate), parking: 2, expiry: .seconds(60), clock: clock)
        let failures = router.failures
        router.handle(payload("1"))
        router.handle(payload("2"))
        router.handle(payload("late"))
        guard case .tooManyParked = await next(failures)?.reason else {
            Issue.record("not refused")
            return
        }
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(60))
        for _ in 0..<2 {
            guard case .expired = await next(failures)?.reason else {
                Issue.record("not expired")
                return
            }
        }
        router.handle(payload("3"))
        let navigator = Navigator<Screen>()
        router.attach(navigator)
        #expect(await path(navigator, count: 1) == [.product("3")])
    }

    @Test("a navigator goes forth and back")
    func navigator() {
        let navigator = Navigator<Screen>()
        navigator.push(.second)
        navigator.push(.product("1"))
        #expect(navigator.pop() == .product("1"))
        #expect(navigator.path == [.second])
        navigator.popToRoot()
        #expect(navigator.pop() == nil)
    }
}
