/// A frame from the broker, as a client understands it. Types and members that the client does not know are no
/// error: a later broker may have more to say.
package enum BrokerMessage: Sendable {
    case welcome(Welcome)
    case ok(Acknowledgement)
    case error(Refusal)
    case notification(ReceivedNotification)
    case gap(Gap)
    case status(StatusReport)
    case goodbye(Goodbye)
    case unknown
}

package struct Welcome: Hashable, Sendable {
    package var id: UInt64?
    package var version: String
    package var instance: String
    /// This connection's number.
    package var connection: UInt64
    /// The last one that was given so far.
    package var seq: UInt64
    package var limits: Limits
}

package struct Acknowledgement: Hashable, Sendable {
    /// The frame's JSON, without the length.
    package var bytes: [UInt8]
    package var id: UInt64
    package var seq: UInt64?
    package var receivers: UInt64?
}

package struct Refusal: Error, Hashable, Sendable {
    package var id: UInt64?
    package var code: Code
    package var message: String

    package enum Code: Hashable, Sendable {
        case known(ErrorCode)
        /// One that this client has never heard of. It is a refusal all the same.
        case unknown(String)
    }
}

/// Notifications that this connection missed at this point of the stream.
package struct Gap: Hashable, Sendable {
    /// The frame's JSON, without the length.
    package var bytes: [UInt8]
    package var count: UInt64
    package var first: UInt64
    package var last: UInt64
}

package struct Goodbye: Hashable, Sendable {
    /// nil: a reason that this client has never heard of. It means: connect again.
    package var reason: GoodbyeReason?
    package var message: String
}

/// The other side does not speak the protocol.
package struct BrokerMessageError: Error, Hashable, Sendable, CustomStringConvertible {
    package var description: String

    init(_ description: String) {
        self.description = description
    }
}
