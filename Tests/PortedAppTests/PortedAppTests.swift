import DistributedNotifications
import DistributedNotificationsTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct PortedAppTests {
    struct Shown: DistributedMessage {
        static let name = Notification.Name("Shown")
        var text: String
    }

    @Test("an application written for the Mac does what it does there")
    func ported() async throws {
        try await withTestBroker { center, broker in
            let watcher = LibraryWatcher(center: center)
            let screen = broker.makeCenter()
            let shown = try await screen.messages(of: Shown.self).confirmed()
            watcher.watch("photos", queue: OperationQueue()) { screen.post(Shown(text: $0)) }
            try await center.flush()
            let library = PhotoLibrary(identifier: "photos", center: broker.makeCenter())
            library.addPhoto("cat", rating: 5)
            library.removePhoto("dog")
            PhotoLibrary(identifier: "other", center: broker.makeCenter()).addPhoto("fish", rating: 1)
            library.touch()
            library.close()
            for text in [
                "added cat, rated 5", "removed dog", "photos was touched", "photos was touched", "closed",
                "all closed",
            ] {
                #expect(try await shown.next(within: .seconds(60)).text == text)
            }
            watcher.stop()
            watcher.applicationDidResignActive()
            watcher.applicationDidBecomeActive()
            #expect(theOnlyTypeOfCenter())
        }
    }
}
