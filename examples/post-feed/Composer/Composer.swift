import Console
import DistributedNotifications
import FeedMessages

/// Composes a post: `feed-composer`. Or changes the login: `feed-composer login USER`, `feed-composer logout`.
@main struct Composer {
    static func main() async throws {
        let center = DistributedNotificationCenter.default()
        let arguments = CommandLine.arguments.dropFirst()
        switch (arguments.first, arguments.dropFirst().first) {
        case ("login", let user?): try await center.send(LoginChanged(user: user))
        case ("logout", nil): try await center.send(LoginChanged(user: nil))
        case (nil, nil):
            Console.write("Title: ")
            guard let title = Console.line() else { return }
            Console.write("Body: ")
            guard let body = Console.line() else { return }
            let receipt = try await center.send(PostCreated(Post(title: title, body: body)))
            Console.show("Posted to \(receipt.receivers).")
        default: Console.show("usage: feed-composer [login USER | logout]")
        }
    }
}
