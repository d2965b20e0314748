public import Foundation
import WireProtocol

/// A message between processes: a `Codable` type with a name. After the messages of Foundation's `NotificationCenter`.
///
/// It travels as the userInfo of an ordinary notification of that name, so that untyped observers, the command-line
/// tools and programs in other languages see plain JSON. It must encode to an object.
public protocol DistributedMessage: Codable, Sendable {
    /// The name of its notifications. It is named explicitly, since it is what others rely on.
    static var name: Notification.Name { get }
}

/// Lets a message be named by static member look-up: `center.messages(for: .seatReserved)`.
///
/// ```swift
/// extension DistributedMessageIdentifier where Self == BaseDistributedMessageIdentifier<SeatReserved> {
///     static var seatReserved: Self { .init() }
/// }
/// ```
public protocol DistributedMessageIdentifier<Message>: Sendable {
    /// The message it stands for.
    associatedtype Message: DistributedMessage
}

/// The identifier that is there for every message.
public struct BaseDistributedMessageIdentifier<Message: DistributedMessage>: DistributedMessageIdentifier {
    /// Makes an identifier.
    public init() {}
}

extension DistributedNotificationCenter {
    /// Posts a message, see ``post(_:)-(Notification)``. One that can't be encoded is told by the event
    /// ``Event/postFailed(_:_:)``, with its coding path.
    public func post(_ message: some DistributedMessage, object: String? = nil, options: Options = []) {
        do throws(DistributedNotificationError) {
            engine.post(try Post(message, object, options))
        } catch {
            fail(type(of: message).name, error)
        }
    }

    /// Posts a message, and waits for the broker to accept it.
    ///
    /// - Throws: As ``send(name:object:userInfo:options:)``; `invalidValue` has the coding path.
    @discardableResult
    public func send(
        _ message: some DistributedMessage, object: String? = nil, options: Options = []
    ) async throws(DistributedNotificationError) -> Receipt {
        try await send(try Post(message, object, options))
    }

    /// Observes messages.
    ///
    /// The block is called for one at a time, in order; a slow one slows down the center, see
    /// ``Buffering/wait(limit:)``. On the main actor iterating over ``messages(of:object:buffering:)`` costs much less. What
    /// does not decode is told by the event ``Event/undecodable(_:_:)``, and observing goes on.
    ///
    /// - Returns: A token; the observation ends with its last copy.
    public func addObserver<M: DistributedMessage>(
        for type: M.Type, object: String? = nil, using block: @escaping @Sendable (M) async -> Void
    ) -> ObservationToken {
        ObservationToken(box: ObservationBox(messages(of: type, object: object), block))
    }

    /// Observes messages, see ``addObserver(for:object:using:)-(M.Type,_,_)``.
    public func addObserver<I: DistributedMessageIdentifier>(
        for identifier: I, object: String? = nil, using block: @escaping @Sendable (I.Message) async -> Void
    ) -> ObservationToken {
        addObserver(for: I.Message.self, object: object, using: block)
    }

    /// Messages as an asynchronous sequence, see ``notifications(named:object:buffering:)``.
    ///
    /// What does not decode is told by the event ``Event/undecodable(_:_:)`` and, in its place, by
    /// ``Notifications/deliveries``, with its coding path; the sequence goes on.
    public func messages<M: DistributedMessage>(
        of type: M.Type, object: String? = nil, buffering: Buffering = .wait()
    ) -> Notifications<M> {
        stream(.init(M.name), object: object, buffering: buffering) {
            received throws(DistributedNotificationError) in try received.decode(type)
        }
    }

    /// Messages as an asynchronous sequence, see ``messages(of:object:buffering:)``.
    public func messages<I: DistributedMessageIdentifier>(
        for identifier: I, object: String? = nil, buffering: Buffering = .wait()
    ) -> Notifications<I.Message> {
        messages(of: I.Message.self, object: object, buffering: buffering)
    }
}

extension Post {
    init<M: DistributedMessage>(
        _ message: M, _ object: String?, _ options: DistributedNotificationCenter.Options
    ) throws(DistributedNotificationError) {
        try self.init(M.name, object, options) { bytes throws(DistributedNotificationError) in
            try MessageEncoder.encode(message, to: &bytes)
        }
    }
}

extension ReceivedNotification {
    /// One without userInfo is a message without members.
    func decode<M: DistributedMessage>(_ type: M.Type) throws(DistributedNotificationError) -> M {
        if let range = userInfoRange { return try MessageDecoder.decode(type, from: bytes, in: range) }
        return try MessageDecoder.decode(type, from: Array("{}".utf8), in: 0..<2)
    }
}
