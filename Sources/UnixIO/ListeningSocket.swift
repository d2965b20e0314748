internal import CLinux
internal import Glibc

package enum AcceptOutcome: ~Copyable {
    /// The socket does not block; the credentials are those of who connected.
    case connection(StreamSocket, PeerCredentials)
    case wouldBlock
    /// No descriptor or memory is left. The listener stays readable: stop watching it for a while.
    case descriptorsExhausted(SystemError)
    case failed(SystemError)
}

/// A Unix stream socket that others connect to. It does not block, and knows nothing of its file's fate.
package struct ListeningSocket: ~Copyable, Sendable {
    private let descriptor: Descriptor

    package var number: Int32 { descriptor.number }

    /// Binds to a path where nothing is yet, with exactly this mode whatever the umask, and listens. Linux gives the file
    /// the socket's own mode less the umask, so it is never wider than asked, and nobody can connect before the end.
    package init(at path: Path, mode: UInt32, backlog: Int32 = 4096) throws(SystemError) {
        let socket = Descriptor(
            adopting: Int32(try check("socket", SystemCalls.unixSocket(SOCK_STREAM, nonblocking: true))))
        try check("fchmod", SystemCalls.changeMode(socket.number, mode))
        try check("bind", SystemCalls.bind(socket.number, path.bytes))
        do throws(SystemError) {
            if try FileStatus(of: path, followingLinks: false).mode != mode {
                try check("chmod", SystemCalls.changeMode(path, mode))
            }
            try check("listen", SystemCalls.listen(socket.number, backlog: backlog))
        } catch {
            _ = SystemCalls.unlink(path)
            throw error
        }
        descriptor = socket
    }

    /// Takes over a socket that somebody else has made; refused with `EINVAL` unless it is a listening Unix stream socket.
    package init(adopting number: Int32) throws(SystemError) {
        guard try check("getsockopt", SystemCalls.isListeningUnixStream(number)) == 1 else {
            throw SystemError("getsockopt", code: EINVAL)
        }
        try check("fcntl", SystemCalls.setCloseOnExec(number))
        try check("fcntl", SystemCalls.setNonblocking(number, true))
        descriptor = Descriptor(adopting: number)
    }

    /// The path it is bound to, as whoever bound it wrote it. An abstract name, which has no file, has none.
    package func path() -> Path? {
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(linux_address_capacity)) { buffer, count in
            // SAFETY: a buffer of a capacity above zero has a base address.
            count = max(SystemCalls.boundAddress(number, buffer.baseAddress.unsafelyUnwrapped), 0)
        }
        return bytes.isEmpty || bytes.first == 0 ? nil : Path(bytes: bytes)
    }

    package func accept() -> AcceptOutcome {
        while true {
            let result = SystemCalls.accept(number)
            guard result < 0 else {
                let socket = StreamSocket(adopting: Descriptor(adopting: Int32(result)))
                do throws(SystemError) {
                    let credentials = try socket.peerCredentials()
                    return .connection(socket, credentials)
                } catch {
                    return .failed(error)
                }
            }
            let error = SystemError("accept", code: Int32(-result))
            switch error.code {
            case ECONNABORTED: continue
            case EAGAIN: return .wouldBlock
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .descriptorsExhausted(error)
            default: return .failed(error)
            }
        }
    }
}
