package import UnixIO

/// The client's side.
package enum ClientEndpoint {
    /// Connects to the broker; the socket blocks. At a path that was found by convention the directory and the listener must
    /// be the user's own (or root's). Waits only where the broker's queue of new connections is full, until the
    /// deadline (of `MonotonicClock`).
    package static func connect(
        to place: SocketPath, user: UInt32 = CurrentProcess.effectiveUser, until deadline: UInt64? = nil
    ) throws(EndpointError) -> StreamSocket {
        try place.checkLength()
        let path = place.path
        if place.origin == .found {
            do throws(SystemError) {
                _ = try FileStatus(of: path.parent, followingLinks: false)
            } catch {
                if error.isMissing { throw .noBroker(path, error) }
            }
            try SocketDirectory.requirePrivate(path.parent, user: user)
        }
        let socket = try EndpointError.wording({ refused($0, at: path) }) { () throws(SystemError) in
            try StreamSocket.connect(to: path, until: deadline)
        }
        if place.origin == .found {
            let listener = try EndpointError.wording({ .system(path, $0) }) { () throws(SystemError) in
                try socket.peerCredentials()
            }
            guard listener.uid == user || listener.uid == 0 else {
                throw .notPermitted(path, "who listens there is another user (uid \(listener.uid))")
            }
        }
        return socket
    }

    private static func refused(_ error: SystemError, at path: Path) -> EndpointError {
        if error.isTimeout { return .notAnswering(path) }
        if error.isPermission { return .notPermitted(path, error.reason) }
        if error.isMissing || error.isConnectionRefused || error.isWrongSocketType || error.isLinkLoop {
            return .noBroker(path, error)
        }
        return .system(path, error)
    }
}
