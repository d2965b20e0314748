public import DistributedNotifications

/// What the booking page tells others when a payment has ended.
public enum ReserveASeatAction: TypedNotification {
    public enum Key: String, Sendable { case success, reservationId }
}
