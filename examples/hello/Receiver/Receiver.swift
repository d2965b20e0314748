import Console
import DistributedNotifications

/// The name and the key are those of the command-line tools, so that `send-data` is seen, too.
enum DataNotification: TypedNotification {
    enum Key: String { case data }
}

@MainActor final class ReceivingViewController {
    private let center = DistributedNotificationCenter.default()
    private var label = "NO DATA" {
        didSet { Console.show(label) }
    }

    func viewDidLoad() async throws {
        let notifications = try await center.notifications(of: DataNotification.self).confirmed()
        Console.show(label)
        for await notification in notifications {
            if let data: String = notification[.data] { label = "Received data: \(data)" }
        }
    }
}

@main struct Receiver {
    static func main() async throws {
        try await ReceivingViewController().viewDidLoad()
    }
}
