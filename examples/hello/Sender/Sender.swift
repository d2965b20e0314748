import Console
import DistributedNotifications

/// The name and the key are those of the command-line tools, so that `receive-data` shows it, too.
enum DataNotification: TypedNotification {
    enum Key: String { case data }
}

struct SendingViewController {
    let center = DistributedNotificationCenter.default()

    func viewDidLoad() {
        Console.write("Input some data: ")
        if let text = Console.line() { send(text) }
    }

    func send(_ text: String) {
        center.post(DataNotification.self, userInfo: [.data: text])
    }
}

@main struct Sender {
    static func main() {
        // It may go away at once: what was posted still goes out.
        SendingViewController().viewDidLoad()
    }
}
