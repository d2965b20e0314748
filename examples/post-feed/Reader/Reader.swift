import Console
import DistributedNotifications
import FeedMessages
import Foundation

@MainActor protocol PostCreationListener: AnyObject {
    func postCreated(_ post: Post)
}

@MainActor protocol LoginListener: AnyObject {
    func loggedIn(_ user: String)
    func loggedOut()
}

/// A listener of one kind.
final class FeedScreen: PostCreationListener {
    private var titles: [String] = []

    func postCreated(_ post: Post) {
        titles.insert(post.title, at: 0)
        Console.show("Feed: \(titles.joined(separator: ", "))")
    }
}

/// A listener of both kinds.
final class Header: PostCreationListener, LoginListener {
    private var unread = 0

    func postCreated(_ post: Post) {
        unread += 1
        Console.show("Header: \(unread) unread")
    }

    func loggedIn(_ user: String) { Console.show("Header: Hello, \(user)!") }
    func loggedOut() { Console.show("Header: Please log in") }
}

/// A listener that goes away when its user does. Nobody removes it from the broadcaster.
final class Profile: LoginListener, PostCreationListener {
    private var user: String?

    func loggedIn(_ user: String) {
        self.user = user
        Console.show("Profile: \(user)")
    }

    func loggedOut() { Console.show("Profile: closing") }
    func postCreated(_ post: Post) { Console.show("Profile: \(user ?? "nobody") sees \(post.title)") }
    isolated deinit { Console.show("Profile: gone") }
}

@MainActor final class Application: LoginListener {
    private let broadcaster = Broadcaster()
    private let feed = FeedScreen()
    private let header = Header()
    private var profile: Profile? = Profile()

    init() {
        // Everything that is listened to, in one place. Titles are tidied up before anybody sees them.
        broadcaster.register(PostCreated.self, as: (any PostCreationListener).self, preparing: tidied) {
            $0.postCreated($1.post)
        }
        broadcaster.register(LoginChanged.self, as: (any LoginListener).self) { listener, message in
            if let user = message.user { listener.loggedIn(user) } else { listener.loggedOut() }
        }
        broadcaster.add(feed)
        broadcaster.add(header)
        if let profile { broadcaster.add(profile) }
        broadcaster.add(self)
    }

    func run() async {
        // One from this process, then those from others.
        broadcaster.broadcast(PostCreated(Post(title: "Welcome", body: "This is your feed.")))
        await broadcaster.run(on: .default())
    }

    func loggedIn(_ user: String) {}
    func loggedOut() { profile = nil }
}

/// Without white space around the title; without a title no post.
private func tidied(_ message: PostCreated) -> PostCreated? {
    let title = message.post.title.trimmingCharacters(in: .whitespaces)
    return title.isEmpty ? nil : PostCreated(Post(title: title, body: message.post.body))
}

/// Shows the feed, until it is ended.
@main struct Reader {
    @MainActor static func main() async {
        await Application().run()
    }
}
