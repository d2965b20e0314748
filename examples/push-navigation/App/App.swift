import Console
import DistributedNotifications
import Foundation
import Observation
import PushMessages

enum Screen: CustomStringConvertible {
    case second
    case product(Product)

    var description: String {
        switch self {
        case .second: "Second Screen"
        case .product(let product): "Product \(product.id): \(product.name)"
        }
    }
}

/// The payload `{"NotificationType": "productDetails", "Id": "42"}`.
struct ProductDetails: RoutePayload {
    static let kind = "productDetails"
    var id: String
    enum CodingKeys: String, CodingKey { case id = "Id" }
}

/// How a push is shown that arrives while the application is in the foreground.
struct PresentationOptions: OptionSet {
    let rawValue: Int
    static let list = Self(rawValue: 1), badge = Self(rawValue: 2), sound = Self(rawValue: 4)

    var names: String {
        [(Self.list, "list"), (.badge, "badge"), (.sound, "sound")].filter { contains($0.0) }.map(\.1)
            .joined(separator: ", ")
    }
}

@MainActor final class Application {
    private let center = DistributedNotificationCenter.default()
    private let navigator = Navigator<Screen>()
    private let router: NotificationRouter<Screen>

    init() {
        let catalogue = CatalogueClient()
        var finder = RouteFinder<Screen>()
        finder.register(ProductDetails.self) { push in
            try await catalogue.product(push.id).map(Screen.product)
        }
        finder.register("second") { _ in .second }
        router = NotificationRouter(finder: finder, lookUpTimeout: .seconds(5))
    }

    func run() async throws {
        let pushes = try await center.notifications(named: .push).confirmed()
        let failures = router.failures
        Task {
            for await failure in failures { Console.show("No way: \(failure)") }
        }
        Task { await showPath() }
        // What was retained comes before the screens are there: the router parks it until the navigator is attached.
        Task { finishLaunching() }
        for await push in pushes where !push.userInfo.isEmpty {
            // It is here: the broker need not keep it any longer.
            center.post(name: .push, userInfo: [:], options: .clearRetained)
            if !push.isRetained { Console.show("Presentation options: \(willPresent(push).names)") }
            router.handle(push.userInfo)
        }
    }

    private func finishLaunching() {
        Console.show("First Screen")
        router.attach(navigator)
    }

    private func willPresent(_ push: DistributedNotification) -> PresentationOptions {
        [.list, .badge, .sound]
    }

    private func showPath() async {
        for await path in Observations({ self.navigator.path }) where !path.isEmpty {
            Console.show((["First Screen"] + path.map(\.description)).joined(separator: " > "))
        }
    }
}

@main struct App {
    static func main() async throws {
        try await Application().run()
    }
}
