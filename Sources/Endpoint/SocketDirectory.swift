internal import UnixIO

/// The directory that holds a socket. Who can write it decides who is taken for the broker, so it is checked before
/// anything is made in it.
enum SocketDirectory {
    /// No link, the user's own, and for nobody else to write.
    static func requirePrivate(_ directory: Path, user: UInt32) throws(EndpointError) {
        let status = try EndpointError.wording({
            .notPermitted(directory, "the socket's directory can't be checked: \($0.reason)")
        }) { () throws(SystemError) in
            try FileStatus(of: directory, followingLinks: false)
        }
        guard status.kind == .directory else {
            throw .notPermitted(
                directory, "the socket's directory is \(status.kind == .link ? "a link" : "no directory")")
        }
        try requireOwn(directory, status, user: user)
    }

    /// Makes what is missing of it, for the user alone, and checks it.
    static func prepare(for socket: SocketPath, user: UInt32) throws(EndpointError) {
        let directory = socket.path.parent
        var missing: [Path] = []
        var existing = directory
        while try isMissing(existing, for: socket.path) {
            missing.append(existing)
            existing = existing.parent
        }
        if missing.isEmpty, socket.origin == .found { try requirePrivate(directory, user: user) }
        try requireUnsharedIfTemporary(existing, holdsSocket: missing.isEmpty, user: user)
        guard !missing.isEmpty else { return }
        for path in missing.reversed() {
            // Somebody else may make it first: whether he may is seen below.
            _ = try EndpointError.wording({ .cannotCreate(socket.path, "making \(path): \($0.reason)") }) {
                () throws(SystemError) in
                try FileSystem.makeDirectory(path, mode: 0o700)
            }
        }
        if socket.origin == .found { try requirePrivate(directory, user: user) }
        try requireUnsharedIfTemporary(directory, holdsSocket: true, user: user)
    }

    private static func isMissing(_ directory: Path, for socket: Path) throws(EndpointError) -> Bool {
        let status = try EndpointError.wording({ .cannotCreate(socket, "\(directory): \($0.reason)") }) {
            () throws(SystemError) in
            try FileStatus.ifPresent(directory, followingLinks: true)
        }
        guard let status else { return true }
        guard status.kind == .directory else { throw .cannotCreate(socket, "\(directory) is no directory") }
        return false
    }

    /// In `/tmp` anyone can make a directory before us: there even the user's word counts only for one that nobody else
    /// could change. Those above it may be root's, or sticky as `/tmp` is: no stranger can replace what is in them.
    private static func requireUnsharedIfTemporary(
        _ directory: Path, holdsSocket: Bool, user: UInt32
    ) throws(EndpointError) {
        guard let resolved = FileSystem.resolve(directory) else {
            throw .notPermitted(directory, "the socket's directory can't be checked")
        }
        let written = directory.isAbsolute && directory != resolved ? [directory] : []
        for path in written + [resolved] {
            for part in path.prefixes where part.bytes.starts(with: "/tmp/".utf8) {
                guard let status = try? FileStatus(of: part, followingLinks: false) else { continue }
                if status.kind == .link {
                    if status.uid != user, status.uid != 0 {
                        throw .notPermitted(part, "the link belongs to another user (uid \(status.uid))")
                    }
                } else if holdsSocket, part == resolved {
                    try requireOwn(part, status, user: user)
                } else if status.uid != 0 || (status.othersMayWrite && !status.isSticky) {
                    try requireOwn(part, status, user: user, stickyAllowed: true)
                }
            }
        }
    }

    private static func requireOwn(
        _ directory: Path, _ status: FileStatus, user: UInt32, stickyAllowed: Bool = false
    ) throws(EndpointError) {
        guard status.uid == user else {
            throw .notPermitted(
                directory, "the socket's directory belongs to another user (uid \(status.uid))")
        }
        guard !status.othersMayWrite || (stickyAllowed && status.isSticky) else {
            throw .notPermitted(
                directory, "others may write the socket's directory; chmod go-w it, or choose another")
        }
    }
}
