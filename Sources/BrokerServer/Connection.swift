import BrokerCore
import UnixIO

/// A connection's socket, and what the poller watches it for.
final class Connection {
    /// A connection that is not read is watched on edges only: on levels a peer that closed would wake the loop for ever.
    struct Watch: Equatable {
        var isReading = true
        var isBlocked = false

        var interest: Readiness { isBlocked ? [.readable, .writable] : .readable }
        var edgeTriggered: Bool { !isReading }
    }

    let socket: StreamSocket
    var watch = Watch()
    /// Whether it stands in the list of those that go on without new input.
    var isReady = false

    init(_ socket: consuming StreamSocket) {
        self.socket = socket
    }
}
