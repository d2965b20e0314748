package import WireProtocol

/// One request of one client. Ids grow, and are never used again, over all its connections.
package struct RequestID: Hashable, Comparable, Sendable {
    package let number: UInt64

    package static func < (first: RequestID, second: RequestID) -> Bool {
        first.number < second.number
    }
}

package enum Answer: Sendable {
    case ok(Acknowledgement)
    case status(StatusReport)
    case refused(Refusal)
}

/// What a frame of the broker means to the client.
package enum ClientEvent: Sendable {
    case welcomed(Welcome)
    case answered(RequestID, Answer)
    /// From here on nothing that this observer matches is missed. Said again after each reconnection.
    case observing(ObserverID)
    case stoppedObserving(ObserverID)
    /// The broker does not take this observer; it is forgotten.
    case observerRefused(ObserverID, Refusal)
    /// An error that answers no request with an id: a post, or the bytes themselves.
    case refused(Refusal)
    /// Never without observers.
    case notification(ReceivedNotification, [ObserverID])
    case gap(Gap)
    /// The broker closes the connection next. What is written to it now reaches nobody: posts had better wait for
    /// another connection.
    case goodbye(Goodbye)
}

/// What a connection that ended leaves.
package struct ConnectionEnd: Sendable {
    package enum Outcome: Hashable, Sendable {
        /// A post that was handed over whole: it may or may not be delivered. It is not sent again.
        case unknown
        /// Any other request; it may be made again.
        case unanswered
    }

    package enum NextStep: Hashable, Sendable {
        case reconnect(after: Duration)
        /// The broker refused this client; trying again makes no sense.
        case stayAway
    }

    /// Requests that get no answer any more, in the order in which they were made.
    package var lost: [(id: RequestID, outcome: Outcome)]
    /// Why, if the broker said it.
    package var goodbye: Goodbye?
    package var next: NextStep
}
