import ClientCore
public import Foundation
import WireProtocol

extension DistributedNotificationCenter {
    /// Observes notifications, with `coalesce` as its behaviour while the center is suspended.
    ///
    /// Observers on one queue are called in the order of their registration, and one at a time, even on a concurrent
    /// queue. The observer is registered when the call returns; outside tasks and callbacks of this center the call
    /// waits up to a second for the broker to confirm it, if there is one. What is posted after that is not missed.
    ///
    /// - Parameters:
    ///   - name: nil observes every name.
    ///   - object: nil observes every object and those without one.
    ///   - queue: Where the block is called; nil is a thread of the center's own, which a slow block holds up for all
    ///     that use it. `OperationQueue.main` needs a main run loop.
    ///   - block: What is called. Of a process's own posts it is called, too.
    /// - Returns: A token for ``removeObserver(_:)-(Any)``. The observation lives as long as the center, whether the token
    ///   is kept or not.
    @discardableResult
    public func addObserver(
        forName name: Notification.Name?, object: String?, queue: OperationQueue?,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol {
        addObserver(
            forName: name, object: object, suspensionBehavior: .coalesce, queue: queue, using: block)
    }

    /// Observes notifications, see ``addObserver(forName:object:queue:using:)``. Not Apple's: there the block form has no
    /// such parameter.
    @discardableResult
    public func addObserver(
        forName name: Notification.Name?, object: String?, suspensionBehavior: SuspensionBehavior,
        queue: OperationQueue?, using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol {
        let id = engine.observe(
            .init(name), object: object, behavior: suspensionBehavior,
            place: queue.map(CallbackLane.Place.operations) ?? .deliveryThread,
            callback: Callback(.block(block)))
        return BlockObserver(id: id, name: name, object: object)
    }

    /// Observes notifications with a method: `#selector(App.changed(_:))` becomes `App.changed`.
    ///
    /// The method is called on the main actor, which needs a main run loop or an asynchronous `main`. The observer is held
    /// weakly: one that is gone is not called, and needs no removal.
    ///
    /// - Parameters:
    ///   - observer: Whose method is called.
    ///   - selector: The method.
    ///   - name: nil observes every name.
    ///   - object: nil observes every object and those without one.
    ///   - suspensionBehavior: What happens while the center is suspended.
    public func addObserver<O: AnyObject & Sendable>(
        _ observer: O, selector: @escaping @Sendable (O) -> @MainActor (Notification) -> Void,
        name: Notification.Name?, object: String?, suspensionBehavior: SuspensionBehavior = .coalesce
    ) {
        let callback = Callback(
            .method { [weak observer] notification in
                guard let observer else { return false }
                selector(observer)(notification)
                return true
            })
        let id = engine.observe(
            .init(name), object: object, behavior: suspensionBehavior, place: .mainActor, callback: callback)
        engine.methods.add(id, of: observer, name: name, object: object)
    }

    /// Ends an observation.
    ///
    /// When it returns no new call begins; one under way goes on. May be called inside a callback.
    ///
    /// - Parameter observer: A token that ``addObserver(forName:object:queue:using:)`` returned, or an object
    ///   whose methods observe: then all of them end.
    public func removeObserver(_ observer: Any) {
        removeObserver(observer, name: nil, object: nil)
    }

    /// Ends those observations of an observer that are for this name and this object; nil stands for any.
    ///
    /// - Parameters:
    ///   - observer: A token or an object, see ``removeObserver(_:)-(Any)``.
    ///   - name: The name that was observed.
    ///   - object: The object that was observed.
    public func removeObserver(_ observer: Any, name: Notification.Name?, object: String?) {
        if let block = observer as? BlockObserver {
            if block.matches(name, object) { engine.removeObserver(block.id) }
        } else if let token = observer as? ObservationToken {
            token.cancel()
        } else {
            for id in engine.methods.remove(of: observer as AnyObject, name: name, object: object) {
                engine.removeObserver(id)
            }
        }
    }
}

/// What Apple's block form hands out.
final class BlockObserver: NSObject, Sendable {
    let id: ObserverID
    private let name: Notification.Name?
    private let object: String?

    init(id: ObserverID, name: Notification.Name?, object: String?) {
        self.id = id
        self.name = name
        self.object = object
    }

    func matches(_ name: Notification.Name?, _ object: String?) -> Bool {
        (name == nil || name == self.name) && (object == nil || object == self.object)
    }
}

/// Whose methods observe what, so that they can be removed by their object.
final class MethodObservers: Sendable {
    private struct Entry {
        let id: ObserverID
        weak var object: (any AnyObject & Sendable)?
        let name: Notification.Name?
        let filter: String?
    }

    private let entries = Locked<[Entry]>([])

    func add(
        _ id: ObserverID, of observer: some AnyObject & Sendable, name: Notification.Name?, object: String?
    ) {
        entries.withLock { entries in
            entries.removeAll { $0.object == nil }
            entries.append(Entry(id: id, object: observer, name: name, filter: object))
        }
    }

    func remove(of observer: AnyObject, name: Notification.Name?, object: String?) -> [ObserverID] {
        let identity = ObjectIdentifier(observer)
        return entries.withLock { entries in
            var removed: [ObserverID] = []
            entries.removeAll { entry in
                guard let owner = entry.object, ObjectIdentifier(owner) == identity,
                    name == nil || name == entry.name, object == nil || object == entry.filter
                else { return false }
                removed.append(entry.id)
                return true
            }
            return removed
        }
    }
}

extension ObservedNames {
    init(_ name: Notification.Name?) {
        self = name.map { .name($0.rawValue) } ?? .all
    }
}
