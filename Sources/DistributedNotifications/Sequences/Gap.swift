/// Notifications are missing at this place of a stream.
public struct Gap: Sendable, Hashable {
    /// Why they are missing.
    public enum Cause: Sendable, Hashable {
        /// The reader was slow and its buffering allows to drop.
        case buffer
        /// More was held while the center was suspended than a held queue takes.
        case heldQueue
        /// The broker's queue for this process was full.
        case broker
        /// The connection to the broker was lost and came back.
        case reconnection
    }

    /// How many; nil if nobody knows, and it may then be none.
    public var count: UInt64?
    /// Why.
    public var cause: Cause

    /// Makes a gap.
    public init(count: UInt64?, cause: Cause) {
        self.count = count
        self.cause = cause
    }
}

/// What comes out of ``Notifications/deliveries``.
public enum Delivery<Element: Sendable>: Sendable {
    /// A value.
    case element(Element)
    /// Here some are missing.
    case gap(Gap)
    /// A notification that could not be read as an element, and why; its userInfo is empty if it is that which is
    /// broken. The stream goes on.
    case undecodable(DistributedNotificationError, DistributedNotification)
}

extension Delivery: Equatable where Element: Equatable {}

/// What happens when notifications come faster than a stream is read.
public struct Buffering: Sendable, Hashable {
    enum Policy: Hashable {
        case wait
        case drop
    }

    let limit: Int
    let policy: Policy

    /// Loses nothing: with so many notifications waiting the center stops reading, the broker's queue fills, and those
    /// who post are slowed down. It is the center that waits, so its other observers wait too. A stream
    /// that is not read at all for the broker's patience (3 seconds) while posters wait ends in a disconnection and a
    /// gap.
    public static func wait(limit: Int = 256) -> Self {
        Self(limit: max(1, limit), policy: .wait)
    }

    /// Slows nobody down: with so many notifications waiting the newest are dropped. How many they were is told by a
    /// gap where they are missing.
    public static func drop(limit: Int = 256) -> Self {
        Self(limit: max(1, limit), policy: .drop)
    }
}
