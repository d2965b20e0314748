public import Foundation
import WireProtocol

// Posts never throw and never deadlock. With an empty outbox the frame is written at once; what the kernel does not take
// goes to the outbox, 8 MiB, which the center's own thread drains.
extension DistributedNotificationCenter {
    /// Posts a notification.
    ///
    /// Posts of one center arrive in the order in which they were made, each at most once. Where no broker is, a
    /// post waits in the outbox for at most 30 seconds. If the outbox is full the call waits up to 3 seconds for
    /// room; it does not wait inside a task, or inside a callback of this center. What could not be sent is told by
    /// the event ``Event/postFailed(_:_:)``, and so is a value that can't be sent.
    ///
    /// - Parameter notification: Its object must be a string or nil.
    public func post(_ notification: Notification) {
        let object = notification.object
        if let object, !(object is String) {
            fail(
                notification.name,
                .init(
                    code: .invalidValue, keyPath: "object",
                    description: "the object must be a string, not \(type(of: object))"))
            return
        }
        post(notification.name, object as? String, notification.userInfo, [])
    }

    /// Posts a notification, see ``post(_:)-(Notification)``.
    public func post(name: Notification.Name, object: String?, userInfo: [AnyHashable: Any]? = nil) {
        post(name, object, userInfo, [])
    }

    /// Posts a notification, see ``post(_:)-(Notification)``.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - object: Whom it is about.
    ///   - userInfo: What it carries.
    ///   - deliverImmediately: Observers get it even while their center is suspended.
    public func postNotificationName(
        _ name: Notification.Name, object: String?, userInfo: [AnyHashable: Any]? = nil,
        deliverImmediately: Bool
    ) {
        post(name, object, userInfo, deliverImmediately ? .deliverImmediately : [])
    }

    /// Posts a notification, see ``post(_:)-(Notification)``.
    public func postNotificationName(
        _ name: Notification.Name, object: String?, userInfo: [AnyHashable: Any]? = nil, options: Options = []
    ) {
        post(name, object, userInfo, options)
    }

    /// Posts a notification whose userInfo is ready, see ``post(_:)-(Notification)``.
    public func post(
        name: Notification.Name, object: String? = nil, userInfo: UserInfo, options: Options = []
    ) {
        do {
            engine.post(try Post(name, object, userInfo.posted, options))
        } catch {
            fail(name, error)
        }
    }

    private func post(
        _ name: Notification.Name, _ object: String?, _ userInfo: [AnyHashable: Any]?, _ options: Options
    ) {
        do {
            let userInfo = if let userInfo { try UserInfo(userInfo) } else { UserInfo?.none }
            engine.post(try Post(name, object, userInfo, options))
        } catch {
            fail(name, error)
        }
    }

    func fail(_ name: Notification.Name, _ error: DistributedNotificationError) {
        engine.report(.postFailed(name, error))
    }
}

extension UserInfo {
    /// nil where there is nothing to carry.
    var posted: UserInfo? { isEmpty ? nil : self }
}

extension Post {
    /// - Throws: `invalidName` if the name or the object can't be sent, and what `appendUserInfo` throws.
    init(
        _ name: Notification.Name, _ object: String?, _ options: DistributedNotificationCenter.Options,
        appendUserInfo: (inout [UInt8]) throws(DistributedNotificationError) -> Void
    ) throws(DistributedNotificationError) {
        let name = name.rawValue
        if let fault = NameRules.fault(inName: name) { throw .invalidName(fault) }
        if let object, let fault = NameRules.fault(inObject: object) { throw .invalidName(fault) }
        try self.init(
            name: name, object: object, deliversImmediately: options.contains(.deliverImmediately),
            retention: options.contains(.clearRetained) ? .clear : options.contains(.retain) ? .keep : .none,
            appendUserInfo: appendUserInfo)
    }

    init(
        _ name: Notification.Name, _ object: String?, _ userInfo: UserInfo?,
        _ options: DistributedNotificationCenter.Options
    ) throws(DistributedNotificationError) {
        try self.init(name, object, options) { bytes throws(DistributedNotificationError) in
            if let userInfo { try userInfo.append(to: &bytes) }
        }
    }
}
