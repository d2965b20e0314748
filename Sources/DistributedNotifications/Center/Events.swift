public import Foundation

extension DistributedNotificationCenter {
    /// What happens to a center besides notifications.
    @nonexhaustive public enum Event: Sendable {
        /// Connected, for the first time or again. What an observer missed meanwhile is told by a ``gap(_:)``.
        case connected(brokerInstance: String)
        /// The connection was lost, or the first attempt failed; told once, not for each attempt.
        case disconnected(DistributedNotificationError)
        /// The next attempt to connect, the `attempt`-th in a row, is made after that time. Times grow up to 2
        /// seconds, and are jittered.
        case retrying(attempt: Int, after: Duration)
        /// Notifications were missed. Streams have the gap in its place, see ``Notifications/deliveries``.
        case gap(Gap)
        /// A post that was not delivered; its name is empty where the broker did not say which it was.
        case postFailed(Notification.Name, DistributedNotificationError)
        /// A notification that an observer could not read; its userInfo is left out if that is what is broken.
        case undecodable(DistributedNotification, DistributedNotificationError)
        /// The broker does not take an observer; it gets nothing.
        case observerRefused(DistributedNotificationError)
    }

    /// The center's events.
    ///
    /// Each access is a subscription of its own. It begins with the state of the connection, if there is one to tell, and
    /// keeps the last 64 for a reader that is slow. The first access connects.
    public var events: Notifications<Event> {
        engine.subscribeToEvents()
    }
}
