internal import UnixIO

/// The right to make, take over and remove the socket at a path: an exclusive lock on a file beside it, for the broker's
/// life. The kernel gives it back however the process ends, so a lock file that was left behind means nothing.
///
/// The file is removed by its holder, so whoever gets a lock looks whether the file that he locked still stands at
/// the path: two that each lock a file of their own would both believe to be alone.
struct SocketLock: ~Copyable, Sendable {
    private let path: Path
    private let descriptor: Descriptor
    private let identity: FileStatus.Identity

    private init(path: Path, descriptor: consuming Descriptor, identity: FileStatus.Identity) {
        self.path = path
        self.descriptor = descriptor
        self.identity = identity
    }

    static func acquire(besides socket: Path) throws(EndpointError) -> SocketLock {
        let path = socket.suffixed(".broker-lock")
        func refused(_ error: SystemError) -> EndpointError {
            .cannotCreate(socket, "\(path): \(error.reason)")
        }
        while true {
            let file = try EndpointError.wording(refused) { () throws(SystemError) in
                try FileSystem.openLockFile(path)
            }
            let status = try EndpointError.wording(refused) { () throws(SystemError) in
                try FileStatus(of: file.number)
            }
            guard status.kind == .regular else { throw .cannotCreate(socket, "\(path) is no regular file") }
            let isLocked = try EndpointError.wording(refused) { () throws(SystemError) in
                try FileSystem.lock(file)
            }
            guard isLocked else { throw .inUse(socket) }
            if stands(status.identity, at: path) {
                return SocketLock(path: path, descriptor: file, identity: status.identity)
            }
        }
    }

    /// The lock on the removed file is kept until the end, and hinders nobody.
    func removeFile() {
        if Self.stands(identity, at: path) { try? FileSystem.remove(path) }
    }

    deinit {
        removeFile()
    }

    static func stands(_ identity: FileStatus.Identity, at path: Path) -> Bool {
        (try? FileStatus(of: path, followingLinks: false))?.identity == identity
    }
}
