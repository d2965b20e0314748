import Endpoint
import UnixIO

/// Posts notifications to other processes and observes theirs, through the broker of this machine.
///
/// It has the shape of Apple's class of that name: what is written against the block API there compiles with this
/// module imported. It is no subclass of Foundation's `NotificationCenter`, whose methods can't be overridden on
/// Linux: code that takes one of those would post inside the process only.
///
/// The first call that needs the broker connects, in the background. The connection is made again whenever it is
/// lost, and all observers are registered again; ``events`` tells of it. A process may exit right after a post: the
/// exit waits up to a second for what was posted.
///
/// All members may be used from any thread and any task.
public final class DistributedNotificationCenter: Sendable {
    let engine: CenterEngine

    /// The center for the broker of this user.
    ///
    /// Its socket is `$NOTIFICATION_BROKER_SOCKET`, else the one in the user's runtime directory.
    public static func `default`() -> DistributedNotificationCenter { shared }

    private static let shared = DistributedNotificationCenter(place: SocketPath.resolve())

    /// The center of that type. There is one type, as on the Mac; any other means the same.
    public static func forType(_ type: CenterType) -> DistributedNotificationCenter { shared }

    /// A center for a broker at another place.
    ///
    /// The center closes when it and all its streams and tokens are gone; what was posted still goes out.
    ///
    /// - Parameter socketPath: The broker's socket. Whoever listens there is trusted.
    public convenience init(socketPath: String) {
        self.init(place: SocketPath(Path(socketPath), .given))
    }

    init(place: SocketPath, bounds: CenterEngine.Bounds = .init()) {
        engine = CenterEngine(place: place, bounds: bounds)
    }

    deinit {
        engine.shutDown()
    }

    /// Ends every observation and stream, waits up to 3 seconds for what was posted to be with the broker, and
    /// disconnects. Posts fail from the call on.
    public func close() async {
        await engine.close()
    }

    /// Whether notifications wait, or are dropped, instead of being delivered, each by its observer's
    /// ``SuspensionBehavior``.
    ///
    /// Streams and the typed forms hold. Of each observer at most 1,000 are held; of more the oldest are dropped and
    /// told by a ``Gap``. What is held is delivered, in order, when this becomes false. A notification posted with
    /// ``Options/deliverImmediately`` is delivered at once, before what is held.
    public var suspended: Bool {
        get { engine.isSuspended }
        set { engine.isSuspended = newValue }
    }

    /// What happens to an observer's notifications while the center is suspended; after Apple's documentation.
    public enum SuspensionBehavior: UInt, Sendable {
        /// They are dropped.
        case drop = 1
        /// The last of each name and object is held, earlier ones are dropped. This is the default.
        case coalesce
        /// They are held, up to a limit.
        case hold
        /// They are delivered; all that is held by the center's other observers is delivered first, as if the center were
        /// resumed for this one notification.
        case deliverImmediately
    }

    /// How a notification is posted.
    public struct Options: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// Takes bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Observers get it even while their center is suspended.
        public static let deliverImmediately = Options(rawValue: 1)
        /// Without effect: each user has one broker for all sessions.
        public static let postToAllSessions = Options(rawValue: 2)
        /// The broker keeps it, until the next one of its name and object, for observers that come later. Not Apple's.
        public static let retain = Options(rawValue: 1 << 16)
        /// The broker forgets what it keeps under this name and object; the post itself is relayed. Not Apple's.
        public static let clearRetained = Options(rawValue: 1 << 17)
    }

    /// A type of center.
    public struct CenterType: RawRepresentable, Hashable, Sendable {
        /// Its name.
        public let rawValue: String

        /// Takes a name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The center between the processes of one machine.
        public static let localNotificationCenterType = CenterType(rawValue: "NSLocalNotificationCenterType")
    }
}
