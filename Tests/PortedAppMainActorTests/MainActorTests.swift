import DistributedNotifications
import DistributedNotificationsTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct MainActorTests {
    @Test("the same file does the same where everything is on the main actor")
    func ported() async throws {
        try await withTestBroker { center, broker in
            let watcher = LibraryWatcher(center: center)
            let screen = broker.makeCenter()
            let shown = try await screen.notifications(named: Notification.Name("Shown")).confirmed()
            watcher.watch(nil, queue: nil) { screen.post(name: Notification.Name("Shown"), object: $0) }
            try await center.flush()
            PhotoLibrary(identifier: "photos", center: broker.makeCenter()).addPhoto("cat", rating: 5)
            #expect(try await shown.next(within: .seconds(60)).object == "added cat, rated 5")
            watcher.stop()
        }
    }
}
