import Console
import DistributedNotifications
import SeatActions

struct Alert {
    var title: String
    var message: String
}

@MainActor final class ExploringPage {
    private var alert: Alert? {
        didSet {
            if let alert {
                Console.show("[ \(alert.title) ]")
                Console.show(alert.message)
                Console.show("( OK )")
            } else {
                Console.show("Exploring Page")
            }
        }
    }

    func run(_ actions: Notifications<Typed<ReserveASeatAction>>) async {
        alert = nil
        for await action in actions {
            // A payment that failed, or lacks a field, shows none.
            guard action[.success] == true, let id: Int = action[.reservationId] else { continue }
            alert = Alert(
                title: "Payment Successful", message: "Reservation \(id) has been successfully paid.")
        }
    }

    func dismiss() {
        if alert != nil { alert = nil }
    }
}

@main struct Exploring {
    @MainActor static func main() async throws {
        let page = ExploringPage()
        let actions = try await DistributedNotificationCenter.default()
            .notifications(of: ReserveASeatAction.self).confirmed()
        let exploring = Task { await page.run(actions) }
        for await _ in Console.lines { page.dismiss() }
        exploring.cancel()
    }
}
