import ClientCore
public import Foundation
import WireProtocol

extension DistributedNotificationCenter {
    /// The notifications of that name and object, as an asynchronous sequence.
    ///
    /// It observes from this call on; to know that the broker observes, too, await ``Notifications/confirmed()``.
    ///
    /// - Parameters:
    ///   - name: nil observes every name.
    ///   - object: nil observes every object and those without one.
    ///   - buffering: What happens when they come faster than they are read.
    /// - Returns: The sequence; the observation ends with its last copy.
    public func notifications(
        named name: Notification.Name? = nil, object: String? = nil, buffering: Buffering = .wait()
    ) -> Notifications<DistributedNotification> {
        stream(.init(name), object: object, buffering: buffering, read: Self.read)
    }

    /// The notifications whose names match a glob, as an asynchronous sequence.
    ///
    /// In a glob `*` stands for any run of characters, `?` for one, and `\` takes the next one literally.
    ///
    /// - Parameters:
    ///   - glob: 1 to 255 bytes. One that is none ends the sequence, with the event ``Event/observerRefused(_:)``.
    ///   - object: nil observes every object and those without one.
    ///   - buffering: What happens when they come faster than they are read.
    /// - Returns: The sequence; the observation ends with its last copy.
    public func notifications(
        matching glob: String, object: String? = nil, buffering: Buffering = .wait()
    ) -> Notifications<DistributedNotification> {
        stream(.matching(glob), object: object, buffering: buffering, read: Self.read)
    }

    private static func read(
        _ received: ReceivedNotification
    ) throws(DistributedNotificationError) -> DistributedNotification {
        try DistributedNotification(received)
    }

    func stream<Element: Sendable>(
        _ names: ObservedNames, object: String?, buffering: Buffering,
        read: @escaping @Sendable (ReceivedNotification) throws(DistributedNotificationError) -> Element
    ) -> Notifications<Element> {
        let channel = engine.makeChannel(buffering)
        let id = engine.observe(
            names, object: object, overflow: buffering.policy == .wait ? .wait : .drop, behavior: .hold,
            channel: channel)
        let engine = engine
        return Notifications(
            channel, lifetime: Lifetime { [self] in self.engine.removeObserver(id) },
            end: { engine.removeObserver(id) },
            confirm: { () async throws(DistributedNotificationError) in try await engine.confirm(id) },
            read: { received in
                do throws(DistributedNotificationError) {
                    return .element(try read(received))
                } catch {
                    let notification = DistributedNotification(readable: received)
                    engine.report(.undecodable(notification, error))
                    return .undecodable(error, notification)
                }
            })
    }
}

extension DistributedNotification {
    /// As much of it as can be read.
    init(readable received: ReceivedNotification) {
        do throws(DistributedNotificationError) {
            try self.init(received)
        } catch {
            self.init(envelope: received)
        }
    }
}
