public import Foundation

/// A notification that is declared once, with the keys of what it carries, and posted and read through them.
///
/// ```swift
/// enum ReserveASeatAction: TypedNotification {
///     enum Key: String { case success, reservationId }
/// }
/// center.post(ReserveASeatAction.self, userInfo: [.success: true, .reservationId: 12345])
/// ```
public protocol TypedNotification: SendableMetatype {
    /// The names of the values that it carries.
    associatedtype Key: RawRepresentable<String> & Hashable & Sendable
    /// Its name between processes. By default the type's own: to rename the type is then to change what travels.
    static var name: Notification.Name { get }
}

extension TypedNotification {
    /// The type's own name.
    public static var name: Notification.Name { TypeNames.shared.name(of: Self.self) }
}

/// Names of types, each made once.
private final class TypeNames: Sendable {
    static let shared = TypeNames()

    private let names = Locked<[ObjectIdentifier: Notification.Name]>([:])

    func name(of type: any Any.Type) -> Notification.Name {
        names.withLock { names in
            let key = ObjectIdentifier(type)
            if let name = names[key] { return name }
            let name = Notification.Name(String(describing: type))
            names[key] = name
            return name
        }
    }
}

/// A received notification of a declared type.
public struct Typed<N: TypedNotification>: Sendable {
    /// The notification as it came.
    public let notification: DistributedNotification

    /// Takes a notification, as a test may want to.
    public init(_ notification: DistributedNotification) {
        self.notification = notification
    }

    /// The value of that key; nil if there is none or it is of another type.
    public subscript<V: UserInfoConvertible>(key: N.Key) -> V? {
        notification.userInfo[key.rawValue]
    }

    /// The value of that key.
    ///
    /// - Throws: `undecodable`, with the key as key path, if there is none or it is of another type.
    public func value<V: UserInfoConvertible>(
        for key: N.Key, as type: V.Type = V.self
    ) throws(DistributedNotificationError) -> V {
        try notification.userInfo.value(for: key.rawValue)
    }
}

extension DistributedNotificationCenter {
    /// Posts a notification of a declared type, see ``post(_:)-(Notification)``.
    public func post<N: TypedNotification>(
        _ type: N.Type, object: String? = nil, userInfo: [N.Key: any UserInfoConvertible],
        options: Options = []
    ) {
        let values = userInfo.lazy.map { ($0.rawValue, $1.userInfoValue) }
        post(
            name: N.name, object: object,
            userInfo: UserInfo(values: Dictionary(values, uniquingKeysWith: { $1 })), options: options)
    }

    /// Observes notifications of a declared type.
    ///
    /// The block is called for one at a time, in order; a slow one slows down the center, see
    /// ``Buffering/wait(limit:)``. On the main actor iterating over ``notifications(of:object:buffering:)`` costs much less.
    ///
    /// - Returns: A token; the observation ends with its last copy.
    public func addObserver<N: TypedNotification>(
        for type: N.Type, object: String? = nil, using block: @escaping @Sendable (Typed<N>) async -> Void
    ) -> ObservationToken {
        ObservationToken(box: ObservationBox(notifications(of: type, object: object), block))
    }

    /// The notifications of a declared type, as an asynchronous sequence, see
    /// ``notifications(named:object:buffering:)``.
    public func notifications<N: TypedNotification>(
        of type: N.Type, object: String? = nil, buffering: Buffering = .wait()
    ) -> Notifications<Typed<N>> {
        stream(.init(N.name), object: object, buffering: buffering) {
            received throws(DistributedNotificationError) in Typed(try DistributedNotification(received))
        }
    }
}
