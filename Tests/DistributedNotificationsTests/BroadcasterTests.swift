import Foundation
import Testing

@testable import DistributedNotifications

@Suite @MainActor struct BroadcasterTests {
    struct PostCreated: DistributedMessage {
        static let name = Notification.Name("PostCreated")
        var title: String
    }
    struct LoggedIn: DistributedMessage {
        static let name = Notification.Name("LoggedIn")
        var user: String
    }

    @MainActor protocol PostListener: AnyObject { func created(_ title: String) }
    @MainActor protocol LoginListener: AnyObject { func loggedIn(_ user: String) }

    final class Feed: PostListener, LoginListener {
        var seen: [String] = []
        func created(_ title: String) { seen.append("post " + title) }
        func loggedIn(_ user: String) { seen.append("login " + user) }
    }

    final class Counter: LoginListener {
        var count = 0
        func loggedIn(_ user: String) { count += 1 }
    }

    private func makeBroadcaster() -> Broadcaster {
        let broadcaster = Broadcaster()
        broadcaster.register(PostCreated.self, as: (any PostListener).self) { $0.created($1.title) }
        broadcaster.register(
            LoggedIn.self, as: (any LoginListener).self,
            preparing: { $0.user.isEmpty ? nil : LoggedIn(user: $0.user.uppercased()) },
            call: { $0.loggedIn($1.user) })
        return broadcaster
    }

    @Test("listeners are called by the protocols that they adopt")
    func byProtocol() {
        let broadcaster = makeBroadcaster()
        let feed = Feed()
        let counter = Counter()
        broadcaster.add(feed)
        broadcaster.add(counter)
        broadcaster.broadcast(PostCreated(title: "a"))
        broadcaster.broadcast(LoggedIn(user: "ann"))
        #expect(feed.seen == ["post a", "login ANN"])
        #expect(counter.count == 1)
    }

    @Test("a central place may swallow a message")
    func swallowing() {
        let broadcaster = makeBroadcaster()
        let counter = Counter()
        broadcaster.add(counter)
        broadcaster.broadcast(LoggedIn(user: ""))
        #expect(counter.count == 0)
    }

    @Test("one that was added twice is called once")
    func twice() {
        let broadcaster = makeBroadcaster()
        let counter = Counter()
        broadcaster.add(counter)
        broadcaster.add(counter)
        broadcaster.broadcast(LoggedIn(user: "ann"))
        #expect(counter.count == 1)
    }

    @Test("one that is gone is gone")
    func gone() {
        let broadcaster = makeBroadcaster()
        let feed = Feed()
        weak var weakCounter: Counter?
        do {
            let counter = Counter()
            weakCounter = counter
            broadcaster.add(counter)
        }
        broadcaster.add(feed)
        broadcaster.broadcast(LoggedIn(user: "ann"))
        #expect(weakCounter == nil)
        #expect(feed.seen == ["login ANN"])
    }

    @Test("a listener may add others and broadcast while it is called")
    func reentrancy() {
        let broadcaster = Broadcaster()
        let late = Feed()
        broadcaster.register(PostCreated.self, as: Feed.self) { feed, message in
            feed.created(message.title)
            if message.title == "first" {
                broadcaster.add(late)
                broadcaster.broadcast(PostCreated(title: "second"))
            }
        }
        let feed = Feed()
        broadcaster.add(feed)
        broadcaster.broadcast(PostCreated(title: "first"))
        #expect(feed.seen == ["post first", "post second"])
        #expect(late.seen == ["post second"])
    }
}
