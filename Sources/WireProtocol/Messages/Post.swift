/// What a client asks the broker to relay.
package struct Post: Sendable {
    package enum Retention: Hashable, Sendable {
        case none
        /// The broker keeps it for later observers of its name and object.
        case keep
        /// The broker forgets what it keeps under this name and object.
        case clear
    }

    package var name: String
    package var object: String?
    /// One JSON object, complete and valid: it goes into the frame as it is.
    package var userInfo: [UInt8]?
    package var deliversImmediately: Bool
    package var retention: Retention

    package init(
        name: String, object: String? = nil, userInfo: [UInt8]? = nil, deliversImmediately: Bool = false,
        retention: Retention = .none
    ) {
        self.name = name
        self.object = object
        self.userInfo = userInfo
        self.deliversImmediately = deliversImmediately
        self.retention = retention
    }
}
