import BrokerCore
import UnixIO

/// A connection's socket, and what the poller watches it for.
final class Connection {
    /// A connection that is not read is watched on edges only: on levels a peer that closed would wake the loop for ever.
    struct Watch: Equatable {
        var interest: Readiness
        var edgeTriggered: Bool

        static let reading = Watch(interest: .readable, edgeTriggered: false)
    }

    let socket: StreamSocket
    var watch = Watch.reading
    /// Whether it stands in the list of those that go on without new input.
    var isReady = false

    init(_ socket: consuming StreamSocket) {
        self.socket = socket
    }
}
