package import WireProtocol

/// Tells each notification once to those whose several observers are one in the end. A live one comes once anyway;
/// a retained one comes once for each observer that it matches.
package struct DistinctNotifications: Sendable {
    private var instance: String?
    private var retained: Set<UInt64> = []

    package init() {}

    /// What was told before means nothing to another instance, which counts anew.
    package mutating func connected(_ welcome: Welcome) {
        if instance != welcome.instance {
            retained.removeAll()
            instance = welcome.instance
        }
    }

    package mutating func isNew(_ notification: ReceivedNotification) -> Bool {
        !notification.isRetained || retained.insert(notification.seq).inserted
    }
}
