public import Foundation
import WireProtocol

/// A notification that came through the broker.
public struct DistributedNotification: Sendable, Hashable {
    /// Who posted it, in the kernel's word.
    public struct Sender: Sendable, Hashable {
        /// The number of the sender's connection, used once in a broker's life.
        public var connection: Int
        /// The sender's process when it connected.
        public var pid: Int32
        /// The sender's user.
        public var uid: UInt32
        /// The sender's group.
        public var gid: UInt32

        /// Makes a sender.
        public init(connection: Int, pid: Int32, uid: UInt32, gid: UInt32) {
            self.connection = connection
            self.pid = pid
            self.uid = uid
            self.gid = gid
        }
    }

    /// What it is called.
    public var name: Notification.Name
    /// Whom it is about, as the poster put it.
    public var object: String?
    /// What it carries.
    public var userInfo: UserInfo
    /// Its place in the order of all notifications of one broker instance, from 1.
    public var seq: UInt64
    /// When the broker accepted it, to the microsecond.
    public var time: Date
    /// Who posted it.
    public var sender: Sender
    /// Whether the broker kept it from before the observation began.
    public var isRetained: Bool

    /// Makes a notification, as a test may want to.
    public init(
        name: Notification.Name, object: String? = nil, userInfo: UserInfo = [:], seq: UInt64 = 0,
        time: Date = Date(timeIntervalSince1970: 0),
        sender: Sender = Sender(connection: 0, pid: 0, uid: 0, gid: 0), isRetained: Bool = false
    ) {
        self.name = name
        self.object = object
        self.userInfo = userInfo
        self.seq = seq
        self.time = time
        self.sender = sender
        self.isRetained = isRetained
    }

    /// The same as Foundation's `Notification`. An empty userInfo is nil there.
    public var notification: Notification {
        Notification(name: name, object: object, userInfo: userInfo.isEmpty ? nil : userInfo.dictionary)
    }
}

extension DistributedNotification {
    /// Without its userInfo.
    init(envelope received: ReceivedNotification) {
        self.init(
            name: Notification.Name(received.name), object: received.object, seq: received.seq,
            time: Date(timeIntervalSince1970: Double(received.time) / 1e6),
            sender: Sender(
                connection: Int(clamping: received.sender.connection), pid: received.sender.pid,
                uid: received.sender.uid, gid: received.sender.gid),
            isRetained: received.isRetained)
    }

    init(_ received: ReceivedNotification) throws(DistributedNotificationError) {
        self.init(envelope: received)
        userInfo = try received.readUserInfo() ?? [:]
    }
}

extension ReceivedNotification {
    func readUserInfo() throws(DistributedNotificationError) -> UserInfo? {
        guard let range = userInfoRange else { return nil }
        return try UserInfo(json: bytes, in: range)
    }

    /// What it holds in memory, roughly.
    var cost: Int { bytes.count + 200 }
}
