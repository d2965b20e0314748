package import UnixIO

/// Where a broker is, and who says so. A path that the user gave is the user's word; one that was found by convention is
/// only trusted after the checks of `SocketDirectory` and of the listener's credentials, since others know the convention.
package struct SocketPath: Equatable, Sendable {
    package enum Origin: Sendable {
        case given, found
    }

    package let path: Path
    package let origin: Origin

    package init(_ path: Path, _ origin: Origin) {
        self.path = path
        self.origin = origin
    }

    /// As many bytes as fit a socket address beside the NUL.
    package static let lengthLimit = 107
    package static let variable = "NOTIFICATION_BROKER_SOCKET"

    /// The first of: the option, the variable, the runtime directory that the environment names, that of the user, `/tmp`.
    /// Empty variables count as unset. A runtime directory that belongs to someone else is passed over (one that is missing
    /// yet is not), and so is a relative one, which would mean another place for each process.
    package static func resolve(
        option: Path? = nil,
        environment: (String) -> [UInt8]? = { CurrentProcess.environment($0) },
        user: UInt32 = CurrentProcess.effectiveUser,
        directoryOwner: (Path) -> UInt32? = owner(ofDirectory:)
    ) -> SocketPath {
        if let option { return SocketPath(option, .given) }
        if let value = environment(variable), !value.isEmpty { return SocketPath(Path(bytes: value), .given) }
        if let value = environment("XDG_RUNTIME_DIR") {
            let directory = Path(bytes: value)
            if directory.isAbsolute, (directoryOwner(directory) ?? user) == user {
                return found(in: directory)
            }
        }
        let directory = Path("/run/user/\(user)")
        if directoryOwner(directory) == user { return found(in: directory) }
        return SocketPath(Path("/tmp/notification-broker-\(user)/broker.sock"), .found)
    }

    private static func found(in directory: Path) -> SocketPath {
        SocketPath(directory.appending("notification-broker").appending("broker.sock"), .found)
    }

    /// nil if it is no directory or can't be looked at.
    package static func owner(ofDirectory path: Path) -> UInt32? {
        guard let status = try? FileStatus(of: path, followingLinks: true), status.kind == .directory else {
            return nil
        }
        return status.uid
    }

    package func checkLength() throws(EndpointError) {
        if path.bytes.count > Self.lengthLimit { throw .pathTooLong(path) }
    }
}
