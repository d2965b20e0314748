import DistributedNotifications
import DistributedNotificationsTesting
import Foundation
import Testing

/// What users write, as they write it: no `@testable` here.
enum Usage {
    enum ReserveASeatAction: TypedNotification { enum Key: String { case success, reservationId } }

    struct Alert: Sendable, Equatable { var title: String, text: String }

    @MainActor final class Exploring {
        var alert: Alert?

        func run(_ center: DistributedNotificationCenter) async {
            for await action in center.notifications(of: ReserveASeatAction.self) {
                guard action[.success] == true, let id: Int = action[.reservationId] else { continue }
                alert = Alert(
                    title: "Payment Successful", text: "Reservation \(id) has been successfully paid.")
                break
            }
        }
    }

    struct SeatReserved: DistributedMessage {
        static let name = Notification.Name("SeatReserved")
        var seat: Int
    }

    @MainActor final class Total {
        var n = 0
        var waiting: CheckedContinuation<Void, Never>?

        func add(_ seat: Int) {
            n += seat
            if n >= 7 { waiting?.resume() }
        }

        func waitForSeven() async {
            if n < 7 { await withCheckedContinuation { waiting = $0 } }
        }
    }

    struct Post: Codable, Sendable { var title, body: String }
    struct PostCreated: DistributedMessage {
        static let name = Notification.Name("PostCreated")
        var post: Post
    }
    @MainActor protocol PostCreationListener: AnyObject { func postCreated(_ post: Post) }
    protocol PostCreatedPlain: AnyObject { func plain(_ post: Post) }
    @MainActor final class Feed: PostCreationListener {
        var titles: [String] = []
        var arrived: CheckedContinuation<Void, Never>?
        func postCreated(_ post: Post) {
            titles.append(post.title)
            arrived?.resume()
            arrived = nil
        }
    }
    final class Plain: PostCreatedPlain {
        var bodies: [String] = []
        func plain(_ post: Post) { bodies.append(post.body) }
    }

    enum Screen: Hashable { case first, second, product(name: String) }
    struct ProductDetails: RoutePayload {
        static let kind = "productDetails"
        var id: String
        enum CodingKeys: String, CodingKey { case id = "Id" }
    }
    struct Catalogue { func product(_ id: String) async throws -> String? { id == "42" ? "Lamp" : nil } }
}

extension DistributedMessageIdentifier
where Self == BaseDistributedMessageIdentifier<Usage.SeatReserved> {
    static var seatReserved: Self { .init() }
}

@Suite(.timeLimit(.minutes(5))) @MainActor struct UsageTests {
    @Test("typed names and keys")
    func typed() async throws {
        try await withTestBroker { center, broker in
            let exploring = Usage.Exploring()
            let run = Task { await exploring.run(center) }
            try await broker.makeCenter().waitForObservers(of: Usage.ReserveASeatAction.name)
            let id = 12345
            center.post(Usage.ReserveASeatAction.self, userInfo: [.success: false, .reservationId: id])
            center.post(Usage.ReserveASeatAction.self, userInfo: [.success: true])
            center.post(Usage.ReserveASeatAction.self, userInfo: [.success: true, .reservationId: id])
            await run.value
            #expect(
                exploring.alert
                    == Usage.Alert(
                        title: "Payment Successful", text: "Reservation 12345 has been successfully paid."))
        }
    }

    @Test("Codable messages")
    func messages() async throws {
        try await withTestBroker { center, _ in
            let total = Usage.Total()
            let token = center.addObserver(for: Usage.SeatReserved.self) { @MainActor m in total.add(m.seat) }
            let token2 = center.addObserver(for: .seatReserved) { m in _ = m.seat }
            try await token.confirmed()
            try await token2.confirmed()
            let stream = center.messages(of: Usage.SeatReserved.self)
            let confirmed = try await center.messages(for: .seatReserved).confirmed()
            let dropping = center.messages(of: Usage.SeatReserved.self, buffering: .drop(limit: 64))
                .deliveries
            let events = center.events
            center.post(Usage.SeatReserved(seat: 3))
            let receipt = try await center.send(Usage.SeatReserved(seat: 4))
            #expect(receipt.seq == 2)
            await total.waitForSeven()
            for await m in stream {
                #expect(m.seat == 3)
                break
            }
            for await m in confirmed {
                #expect(m.seat == 3)
                break
            }
            for await d in dropping {
                switch d {
                case .element(let m): #expect(m.seat == 3)
                case .gap(let g): Issue.record("\(g)")
                case .undecodable(let e, let n): Issue.record("\(e) \(n)")
                }
                break
            }
            for await e in events {
                switch e {
                case .connected(let instance): #expect(instance == receipt.brokerInstance)
                case .disconnected, .retrying, .postFailed, .undecodable, .observerRefused, .gap:
                    Issue.record("\(e)")
                @unknown default: break
                }
                break
            }
            do throws(DistributedNotificationError) {
                try await center.send(name: Notification.Name(""))
                Issue.record("sent")
            } catch {
                #expect(error.code == .invalidName)
            }
        }
    }

    @Test("a broadcaster calls listeners, of local and of remote messages")
    func broadcaster() async throws {
        try await withTestBroker { center, broker in
            let broadcaster = Broadcaster()
            broadcaster.register(Usage.PostCreated.self, as: (any Usage.PostCreationListener).self) {
                listener, message in
                listener.postCreated(message.post)
            }
            broadcaster.register(Usage.PostCreated.self, as: (any Usage.PostCreatedPlain).self) {
                $0.plain($1.post)
            }
            let feed = Usage.Feed()
            let plain = Usage.Plain()
            broadcaster.add(feed)
            broadcaster.add(plain)
            let relay = Task { await broadcaster.run(on: center) }
            broadcaster.broadcast(Usage.PostCreated(post: .init(title: "local", body: "b")))
            let other = broker.makeCenter()
            try await other.waitForObservers(of: Usage.PostCreated.name)
            other.post(Usage.PostCreated(post: .init(title: "remote", body: "c")))
            await withCheckedContinuation { feed.arrived = $0 }
            #expect(feed.titles == ["local", "remote"])
            #expect(plain.bodies == ["b", "c"])
            relay.cancel()
            await relay.value
            try await other.flush()
            #expect(try await other.send(Usage.PostCreated(post: .init(title: "", body: ""))).receivers == 0)
        }
    }

    @Test("a push leads to a screen")
    func routing() async throws {
        try await withTestBroker { center, broker in
            let catalogue = Usage.Catalogue()
            var finder = RouteFinder<Usage.Screen>()
            finder.register(Usage.ProductDetails.self) { push in
                try await catalogue.product(push.id).map(Usage.Screen.product)
            }
            finder.register("second") { _ in .second }
            let router = NotificationRouter(finder: finder)
            let navigator = Navigator<Usage.Screen>()
            let failures = router.failures
            let pushes = Task { await router.run(center.notifications(named: Notification.Name("Push"))) }
            router.attach(navigator)
            try await broker.makeCenter().waitForObservers(of: Notification.Name("Push"))
            for payload: UserInfo in [
                ["NotificationType": "productDetails", "Id": "42"], ["NotificationType": "second"],
                ["NotificationType": "productDetails", "Id": "43"],
            ] {
                center.post(name: Notification.Name("Push"), userInfo: payload)
            }
            for await failure in failures {
                guard case .notFound = failure.reason else {
                    Issue.record("\(failure)")
                    break
                }
                break
            }
            #expect(navigator.path == [.product(name: "Lamp"), .second])
            pushes.cancel()
        }
    }
}
