package import UnixIO

/// The broker's side: a listening socket at a path, which is this broker's for its life, or one that was passed to it.
///
/// Of many that start at once at one path one gets the lock; it alone looks at what stands there, takes over a socket that
/// nobody listens on, and leaves alone whatever lives or is no socket. At the end the file is only removed if it is still
/// the one made here.
package struct ListeningEndpoint: ~Copyable, Sendable {
    private struct Claim: ~Copyable, Sendable {
        let lock: SocketLock
        let identity: FileStatus.Identity
    }

    package let path: Path
    package let socket: ListeningSocket
    /// nil for a socket that was passed: its file belongs to who passed it.
    private let claim: Claim?

    /// Throws `inUse` where somebody listens already. Never waits.
    package init(
        at place: SocketPath, mode: UInt32 = 0o600, user: UInt32 = CurrentProcess.effectiveUser
    ) throws(EndpointError) {
        try place.checkLength()
        let path = place.path
        guard !path.lastComponent.isEmpty else { throw .cannotCreate(path, "it names no file") }
        try SocketDirectory.prepare(for: place, user: user)
        _ = try Self.socket(at: path)
        let lock = try SocketLock.acquire(besides: path)
        let socket = try Self.listen(at: path, mode: mode)
        let identity = try EndpointError.wording({ .system(path, $0) }) { () throws(SystemError) in
            try FileStatus(of: path, followingLinks: false).identity
        }
        self.init(path: path, socket: socket, claim: Claim(lock: lock, identity: identity))
    }

    /// Takes over the listening socket that the service manager passed to this process, if it did.
    package static func passed(
        environment: (String) -> [UInt8]? = { CurrentProcess.environment($0) },
        pid: Int32 = CurrentProcess.pid, first: Int32 = ServiceManager.firstPassedDescriptor
    ) throws(EndpointError) -> ListeningEndpoint? {
        let count = ServiceManager.passedDescriptors(environment: environment, pid: pid)
        guard count > 0 else { return nil }
        guard count == 1 else { throw .badPassedSocket("one socket can be served, \(count) were passed") }
        return try ListeningEndpoint(adopting: first)
    }

    init(adopting number: Int32) throws(EndpointError) {
        let socket = try EndpointError.wording({ _ in
            .badPassedSocket("descriptor \(number) is no listening Unix stream socket")
        }) { () throws(SystemError) in
            try ListeningSocket(adopting: number)
        }
        let path = socket.path() ?? "(no path)"
        self.init(path: path, socket: socket, claim: nil)
    }

    private init(path: Path, socket: consuming ListeningSocket, claim: consuming Claim?) {
        self.path = path
        self.socket = socket
        self.claim = claim
    }

    /// No client finds the broker from now on, and another broker may start at the path. Those that have connected wait to
    /// be accepted.
    package func removeFiles() {
        switch claim {
        case .some(let claim):
            if SocketLock.stands(claim.identity, at: path) { try? FileSystem.remove(path) }
            claim.lock.removeFile()
        case .none: break
        }
    }

    deinit {
        removeFiles()
    }

    private static func listen(at path: Path, mode: UInt32) throws(EndpointError) -> ListeningSocket {
        // A program that does not know the lock may come between; not again and again.
        for _ in 0..<8 {
            try removeStale(at: path)
            do throws(SystemError) {
                return try ListeningSocket(at: path, mode: mode)
            } catch {
                if error.isAddressInUse { continue }
                throw .cannotCreate(path, error.reason)
            }
        }
        throw .inUse(path)
    }

    /// Called with the lock held.
    private static func removeStale(at path: Path) throws(EndpointError) {
        guard let identity = try socket(at: path) else { return }
        guard try !isServed(path) else { throw .inUse(path) }
        guard SocketLock.stands(identity, at: path) else { return }
        try EndpointError.wording({ .cannotCreate(path, "removing the stale socket: \($0.reason)") }) {
            () throws(SystemError) in
            try FileSystem.remove(path)
        }
    }

    private static func isServed(_ path: Path) throws(EndpointError) -> Bool {
        do throws(SystemError) {
            _ = try StreamSocket.connect(to: path, until: 0)
            return true
        } catch {
            // A full queue is a living listener's, and a socket of another type somebody's who is there.
            if error.isTimeout || error.isWrongSocketType { return true }
            if error.isPermission { throw .notPermitted(path, "a socket of another user is there") }
            if error.isConnectionRefused || error.isMissing { return false }
            throw .system(path, error)
        }
    }

    /// The socket that stands there; nil if nothing does.
    private static func socket(at path: Path) throws(EndpointError) -> FileStatus.Identity? {
        let status = try EndpointError.wording({ .cannotCreate(path, $0.reason) }) { () throws(SystemError) in
            try FileStatus.ifPresent(path, followingLinks: false)
        }
        guard let status else { return nil }
        guard status.kind == .socket else {
            throw .cannotCreate(path, "what is there is no socket, and is left alone")
        }
        return status.identity
    }
}
