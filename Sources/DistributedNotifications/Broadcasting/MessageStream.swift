import ClientCore
import Foundation
import WireProtocol

/// One stream of notifications of several names, in the broker's order. Names can be added while it is read.
final class MessageStream: Sendable {
    private let center: DistributedNotificationCenter
    private let channel: Channel<ReceivedNotification>
    private let observers = Locked<[Notification.Name: ObserverID]>([:])

    init(_ center: DistributedNotificationCenter) {
        self.center = center
        channel = center.engine.makeChannel(.wait())
    }

    deinit {
        end()
    }

    func observe(_ name: Notification.Name) {
        observers.withLock { observers in
            guard observers[name] == nil else { return }
            observers[name] = center.engine.observe(
                .name(name.rawValue), object: nil, behavior: .hold, channel: channel)
        }
    }

    private func end() {
        for id in observers.withLock({ Array($0.values) }) { center.engine.removeObserver(id) }
    }

    var notifications: Notifications<ReceivedNotification> {
        Notifications(
            channel, lifetime: self, end: { self.end() },
            confirm: { () async throws(DistributedNotificationError) in
                for id in self.observers.withLock({ Array($0.values) }) {
                    try await self.center.engine.confirm(id)
                }
            },
            read: { .element($0) })
    }
}
