internal import Glibc

/// A connected Unix stream socket. Descriptors that a peer sends along are dropped by the kernel, since nothing here
/// receives with room for them.
package struct StreamSocket: ~Copyable, Sendable {
    private let descriptor: Descriptor

    package init(adopting descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    package var number: Int32 { descriptor.number }

    /// Connects, and leaves the socket blocking. Where the listener's queue stays full until the deadline, a timeout
    /// is thrown; a deadline that has passed means: without waiting.
    package static func connect(to path: Path, until deadline: UInt64? = nil) throws(SystemError)
        -> StreamSocket
    {
        let immediate = deadline.map { $0 <= MonotonicClock.now() } ?? false
        let descriptor = Descriptor(
            adopting: Int32(try check("socket", SystemCalls.unixSocket(SOCK_STREAM, nonblocking: immediate))))
        if !immediate, deadline != nil {
            let wait = max(MonotonicClock.remaining(until: deadline), 1000)
            try check("setsockopt", SystemCalls.setSendTimeout(descriptor.number, nanoseconds: wait))
        }
        let result = SystemCalls.connect(descriptor.number, path.bytes)
        if result == -Int(EAGAIN) { throw SystemError("connect", code: ETIMEDOUT) }
        try check("connect", result)
        if immediate {
            try check("fcntl", SystemCalls.setNonblocking(descriptor.number, false))
        } else if deadline != nil {
            try check("setsockopt", SystemCalls.setSendTimeout(descriptor.number, nanoseconds: 0))
        }
        return StreamSocket(adopting: descriptor)
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadOutcome {
        Self.outcome(ofRead: SystemCalls.receive(number, buffer))
    }

    /// Fills the second buffer with what the first has no room for.
    package func read(
        into first: UnsafeMutableRawBufferPointer, then second: UnsafeMutableRawBufferPointer
    ) -> ReadOutcome {
        Self.outcome(ofRead: SystemCalls.receive(number, first, second))
    }

    private static func outcome(ofRead count: Int) -> ReadOutcome {
        if count > 0 { return .bytes(count) }
        if count == 0 { return .endOfFile }
        return count == -Int(EAGAIN) ? .wouldBlock : .failed(SystemError("read", code: Int32(-count)))
    }

    package func write(_ bytes: UnsafeRawBufferPointer) -> WriteOutcome {
        Self.outcome(SystemCalls.send(number, bytes))
    }

    /// Takes the first `IOVector.most` of the pieces at most.
    package func write(gathering pieces: UnsafeBufferPointer<IOVector>) -> WriteOutcome {
        Self.outcome(SystemCalls.sendGathered(number, pieces))
    }

    private static func outcome(_ count: Int) -> WriteOutcome {
        if count >= 0 { return .bytes(count) }
        switch Int32(-count) {
        case EAGAIN: return .wouldBlock
        case EPIPE, ECONNRESET: return .closed
        case let code: return .failed(SystemError("write", code: code))
        }
    }

    package func peerCredentials() throws(SystemError) -> PeerCredentials {
        var credentials = PeerCredentials(pid: 0, uid: .max, gid: .max)
        try check("getsockopt", SystemCalls.peerCredentials(number, &credentials))
        return credentials
    }

    /// How many bytes wait to be read.
    package func readableBytes() -> Int {
        max(SystemCalls.readableBytes(number), 0)
    }

    /// How much memory the kernel holds of what was written and not read by the peer: it shrinks when the peer reads.
    package func unreadBytes() -> Int {
        max(SystemCalls.unreadBytes(number), 0)
    }

    /// Makes room in the kernel for last words to a peer that doesn't read.
    package func enlargeSendBuffer() {
        SystemCalls.enlargeSendBuffer(number)
    }

    /// The peer reads an end of file; reading goes on.
    package func shutdownWriting() {
        _ = SystemCalls.shutdownWriting(number)
    }

    package func setBlocking(_ blocking: Bool) throws(SystemError) {
        try check("fcntl", SystemCalls.setNonblocking(number, !blocking))
    }
}
