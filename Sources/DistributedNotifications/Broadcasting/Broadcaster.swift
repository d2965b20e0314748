import Foundation
import WireProtocol

/// Calls listeners by the protocol that they adopt: no string keys, no casts, no removal.
///
/// Which method of which protocol a message calls is registered once, in a central place that may also parse, change or
/// swallow the message before any listener sees it. Objects are then only added; they are held weakly, and called in the
/// order in which they were added.
///
/// It is not `Sendable`, but lives where its owner does, on the main actor or in another one: so calls are synchronous, and
/// listeners need not be `Sendable` either.
///
/// ```swift
/// broadcaster.register(PostCreated.self, as: (any PostCreationListener).self) { $0.postCreated($1.post) }
/// broadcaster.add(feed)
/// broadcaster.broadcast(PostCreated(post: post))     // in this process
/// await broadcaster.run(on: center)                  // what comes from others
/// ```
public final class Broadcaster {
    private struct Registration {
        let name: Notification.Name
        /// Calls the listeners with a message of the registered type; anything else is passed over.
        let broadcast: (any DistributedMessage, [AnyObject]) -> Void
        let decode: (ReceivedNotification) throws(DistributedNotificationError) -> any DistributedMessage
    }

    private struct Listener {
        weak var object: AnyObject?
    }

    private var registrations: [ObjectIdentifier: [Registration]] = [:]
    private var listeners: [Listener] = []
    /// The stream that `run` reads, which a later registration is added to.
    private var running: MessageStream?

    /// A broadcaster without registrations and listeners.
    public init() {}

    /// Says what a message calls.
    ///
    /// A message may be registered several times, for several protocols. While ``run(on:)`` runs it is observed from then on.
    ///
    /// - Parameters:
    ///   - type: The message.
    ///   - listener: The protocol, or class, whose adopters are called.
    ///   - preparing: Parses or changes the message before the listeners see it; nil swallows it.
    ///   - call: Calls one listener.
    public func register<M: DistributedMessage, L>(
        _ type: M.Type, as listener: L.Type, preparing: ((M) -> M?)? = nil, call: @escaping (L, M) -> Void
    ) {
        let registration = Registration(
            name: M.name,
            broadcast: { message, objects in
                guard let message = message as? M, let prepared = preparing.map({ $0(message) }) ?? message
                else {
                    return
                }
                for object in objects {
                    if let listener = object as? L { call(listener, prepared) }
                }
            },
            decode: { received throws(DistributedNotificationError) in try received.decode(M.self) })
        registrations[ObjectIdentifier(type), default: []].append(registration)
        running?.observe(M.name)
    }

    /// Adds a listener; one that is there already stays where it is. It is held weakly, and gone when it is gone.
    public func add(_ listener: some AnyObject) {
        listeners.removeAll { $0.object == nil }
        if !listeners.contains(where: { $0.object === listener }) {
            listeners.append(Listener(object: listener))
        }
    }

    /// Calls the listeners in this process, before it returns. Listeners that are added meanwhile are not called.
    ///
    /// To reach other processes, too, post the message to a center: what this process observes of its own posts comes
    /// back to it.
    public func broadcast(_ message: some DistributedMessage) {
        broadcast(message, to: registrations[ObjectIdentifier(type(of: message))] ?? [])
    }

    private func broadcast(_ message: any DistributedMessage, to registered: [Registration]) {
        let objects = listeners.compactMap(\.object)
        for registration in registered { registration.broadcast(message, objects) }
    }

    /// Broadcasts what comes through the broker, of all registered messages in one order, until the task is cancelled or the
    /// center closed. What does not decode is told by the center's events.
    public nonisolated(nonsending) func run(on center: DistributedNotificationCenter) async {
        let stream = MessageStream(center)
        running = stream
        defer { running = nil }
        for registered in registrations.values {
            for registration in registered { stream.observe(registration.name) }
        }
        for await received in stream.notifications {
            receive(received, center)
        }
    }

    private func receive(_ received: ReceivedNotification, _ center: DistributedNotificationCenter) {
        let name = Notification.Name(received.name)
        for registered in registrations.values where registered.first?.name == name {
            guard let first = registered.first else { continue }
            do throws(DistributedNotificationError) {
                broadcast(try first.decode(received), to: registered)
            } catch {
                center.engine.report(.undecodable(DistributedNotification(readable: received), error))
            }
        }
    }
}
