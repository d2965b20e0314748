import ClientCore
import Foundation
import WireProtocol

/// All callbacks of one center that run in one place: on its delivery thread, on an operation queue, or on the main
/// actor. One lane is one order, so observers on the same queue are called in the order of their registration,
/// and never two at once, even where the queue is concurrent.
///
/// One job runs a batch, since to start one costs more than most callbacks do. A lane that is full makes the center stop
/// reading.
final class CallbackLane: Sendable {
    enum Place: Sendable {
        case deliveryThread
        case operations(OperationQueue)
        case mainActor
    }

    struct Item: Sendable {
        let observer: ObserverID
        let callback: Callback
        let notification: ReceivedNotification
    }

    struct Hooks: Sendable {
        var onRoom: @Sendable (ObjectIdentifier) -> Void
        var onUndecodable: @Sendable (ReceivedNotification, DistributedNotificationError) -> Void
        /// The object that an observer calls is gone.
        var onGone: @Sendable (ObserverID) -> Void
    }

    /// The center, by its identity, in whose callback the current code runs.
    @TaskLocal static var center: ObjectIdentifier?

    private static let limit = 256
    private static let batchesPerJob = 4

    let channel: Channel<Item>
    private let place: Place
    private let deliveryThread = DispatchQueue(label: "DistributedNotifications.delivery")
    private let center: ObjectIdentifier
    private let hooks: Hooks

    init(_ place: Place, center: ObjectIdentifier, hooks: Hooks) {
        self.place = place
        self.center = center
        self.hooks = hooks
        channel = Channel(limit: Self.limit, overflow: .wait, hooks: .init(onRoom: hooks.onRoom))
    }

    /// Starts a job. To be called once each time a push found the channel idle.
    func schedule() {
        switch place {
        case .deliveryThread: deliveryThread.async { self.runBlocks() }
        case .operations(let queue): queue.addOperation { self.runBlocks() }
        case .mainActor: Task { @MainActor in self.runMethods() }
        }
    }

    private func runBlocks() {
        run { callback, notification in
            if case .block(let block) = callback.call { block(notification) }
            return true
        }
    }

    @MainActor private func runMethods() {
        run { callback, notification in
            guard case .method(let method) = callback.call else { return true }
            // The closure does not leave this function, which the main actor runs.
            return MainActor.assumeIsolated { method(notification) }
        }
    }

    private func run(_ call: (Callback, Notification) -> Bool) {
        Self.$center.withValue(center) {
            for _ in 0..<Self.batchesPerJob {
                guard case .entries(let entries) = channel.take() else { return }
                for case .item(let item) in entries where item.callback.isActive {
                    guard let notification = read(item.notification) else { continue }
                    if !call(item.callback, notification) { hooks.onGone(item.observer) }
                }
            }
            schedule()
        }
    }

    private func read(_ received: ReceivedNotification) -> Notification? {
        do {
            let userInfo = try received.readUserInfo()
            return Notification(
                name: Notification.Name(received.name), object: received.object,
                userInfo: userInfo?.dictionary)
        } catch {
            hooks.onUndecodable(received, error)
            return nil
        }
    }
}
