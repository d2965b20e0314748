// Written against Apple's documented block API. The only line for Linux is the second import.
import DistributedNotifications
import Foundation

extension Notification.Name {
    static let libraryDidChange = Notification.Name("com.example.library.didChange")
    static let libraryDidClose = Notification.Name("com.example.library.didClose")
}

/// A photo library that several programs have open: each tells the others of changes.
final class PhotoLibrary: Sendable {
    private let identifier: String
    private let center: DistributedNotificationCenter

    init(identifier: String, center: DistributedNotificationCenter = .default()) {
        self.identifier = identifier
        self.center = center
    }

    func addPhoto(_ name: String, rating: Int) {
        center.post(name: .libraryDidChange, object: identifier, userInfo: ["photo": name, "rating": rating])
    }

    func removePhoto(_ name: String) {
        let info: [AnyHashable: Any] = ["photo": name, "removed": true]
        center.postNotificationName(
            .libraryDidChange, object: identifier, userInfo: info, deliverImmediately: false)
    }

    func touch() {
        center.post(name: .libraryDidChange, object: identifier)
        center.postNotificationName(.libraryDidChange, object: identifier)
    }

    func close() {
        center.postNotificationName(
            .libraryDidClose, object: identifier, userInfo: ["at": Date()],
            options: [.deliverImmediately, .postToAllSessions])
        center.post(Notification(name: .libraryDidClose, object: nil, userInfo: nil))
    }
}

/// Shows what others do to the library.
final class LibraryWatcher {
    private let center: DistributedNotificationCenter
    private var observers: [any NSObjectProtocol] = []

    init(center: DistributedNotificationCenter = .default()) {
        self.center = center
    }

    func watch(_ identifier: String?, queue: OperationQueue?, show: @escaping @Sendable (String) -> Void) {
        let changes = center.addObserver(forName: .libraryDidChange, object: identifier, queue: queue) {
            notification in
            guard let photo = notification.userInfo?["photo"] as? String else {
                show("\(notification.object as? String ?? "a library") was touched")
                return
            }
            let removed = notification.userInfo?["removed"] as? Bool ?? false
            show(
                removed
                    ? "removed \(photo)"
                    : "added \(photo), rated \(notification.userInfo?["rating"] as? Int ?? 0)")
        }
        let closing = center.addObserver(forName: .libraryDidClose, object: nil, queue: queue) {
            notification in
            show(notification.userInfo?["at"] is Date ? "closed" : "all closed")
        }
        observers += [changes, closing]
    }

    func applicationDidResignActive() {
        center.suspended = true
    }

    func applicationDidBecomeActive() {
        if center.suspended { center.suspended = false }
    }

    func stop() {
        if let changes = observers.first {
            center.removeObserver(changes, name: .libraryDidChange, object: nil)
        }
        for observer in observers { center.removeObserver(observer) }
        observers = []
    }
}

func theOnlyTypeOfCenter() -> Bool {
    DistributedNotificationCenter.forType(.localNotificationCenterType)
        === DistributedNotificationCenter.default()
}
