import DistributedNotifications

/// What the booking page tells others when a payment has ended.
package enum ReserveASeatAction: TypedNotification {
    package enum Key: String, Sendable { case success, reservationId }
}
