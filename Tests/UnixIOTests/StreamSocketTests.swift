import Glibc
import TestSupport
import Testing
import UnixIO

@Suite struct StreamSocketTests {
    @Test func whatIsWrittenIsRead() throws {
        let pair = try ConnectedPair()
        #expect(pair.left.write("hello") == .bytes(5))
        #expect(pair.right.readableBytes() == 5)
        #expect(pair.right.read().bytes == Array("hello".utf8))
        #expect(pair.right.read().outcome == .wouldBlock)
    }

    @Test func endOfFileComesAfterAllThatWasWritten() throws {
        let pair = try ConnectedPair()
        #expect(pair.left.write("last") == .bytes(4))
        pair.left.shutdownWriting()
        #expect(pair.right.read().bytes == Array("last".utf8))
        #expect(pair.right.read().outcome == .endOfFile)
        #expect(pair.right.write("back") == .bytes(4))
        #expect(pair.left.read().bytes == Array("back".utf8))
    }

    @Test func writingToOneThatIsGoneIsClosed() throws {
        let directory = try TemporaryDirectory()
        let listener = try ListeningSocket(at: directory.path.appending("s"), mode: 0o600)
        let client = try StreamSocket.connect(to: directory.path.appending("s"))
        do {
            guard case .connection = listener.accept() else { throw NoConnection() }
        }
        #expect(try PollEntry.wait(for: client.number, [], until: soon()) == .hangUp)
        #expect(client.write("x") == .closed)
    }

    @Test func aPeerThatLeavesInputUnreadIsAReset() throws {
        let directory = try TemporaryDirectory()
        let listener = try ListeningSocket(at: directory.path.appending("s"), mode: 0o600)
        let client = try StreamSocket.connect(to: directory.path.appending("s"))
        do {
            guard case .connection(let peer, _) = listener.accept() else { throw NoConnection() }
            #expect(client.write("unread") == .bytes(6))
            #expect(peer.write("queued") == .bytes(6))
        }
        #expect(client.read().bytes == Array("queued".utf8))
        #expect(client.read().outcome == .failed(SystemError("read", code: ECONNRESET)))
    }

    @Test(arguments: [
        ("ab", "ab", ""), ("abc", "abc", ""), ("abcde", "abc", "de"), ("abcdefgh", "abc", "defg"),
    ])
    func whatTheFirstBufferHasNoRoomForIsInTheSecond(sent: String, first: String, second: String) throws {
        let pair = try ConnectedPair()
        #expect(pair.left.write(sent) == .bytes(sent.utf8.count))
        var buffers = ([UInt8](repeating: 0, count: 3), [UInt8](repeating: 0, count: 4))
        let outcome = buffers.0.withUnsafeMutableBytes { one in
            buffers.1.withUnsafeMutableBytes { two in pair.right.read(into: one, then: two) }
        }
        #expect(outcome == .bytes(first.utf8.count + second.utf8.count))
        #expect(buffers.0.starts(with: first.utf8) && buffers.1.starts(with: second.utf8))
        #expect(pair.right.readableBytes() == max(sent.utf8.count - 7, 0))
    }

    @Test func aFullPeerWouldBlock() throws {
        let pair = try ConnectedPair()
        let text = String(repeating: "x", count: 1 << 16)
        var outcome = pair.right.write(text)
        while case .bytes = outcome { outcome = pair.right.write(text) }
        #expect(outcome == .wouldBlock)
    }

    @Test(arguments: [0, 1, 3, IOVector.most, IOVector.most + 200])
    func piecesAreGatheredInOrder(count: Int) throws {
        let pair = try ConnectedPair()
        let bytes = (0..<max(count, 1)).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let outcome = bytes.withUnsafeBytes { raw in
            let pieces = (0..<count).map { IOVector(raw.baseAddress?.advanced(by: $0), 1) }
            return pieces.withUnsafeBufferPointer { pair.left.write(gathering: $0) }
        }
        let written = min(count, IOVector.most)
        #expect(outcome == .bytes(written))
        #expect(pair.right.read().bytes == Array(bytes[..<written]))
    }

    @Test func bothSidesAreKnownByTheKernelsWord() throws {
        let pair = try ConnectedPair()
        let mine = PeerCredentials(pid: getpid(), uid: geteuid(), gid: getegid())
        #expect(try pair.left.peerCredentials() == mine)
        #expect(try pair.right.peerCredentials() == mine)
    }

    @Test func aDescriptorThatIsSentAlongIsNotKept() throws {
        let pair = try ConnectedPair()
        let pipe = try Pipe()
        try send("x", with: pipe.writing.number, over: pair.left.number)
        let reading = pipe.closeWriting()
        #expect(pair.right.read().bytes == Array("x".utf8))
        // Nobody holds the writing end any more.
        let readiness = try PollEntry.wait(for: reading.number, .readable, until: soon())
        #expect(readiness.contains(.hangUp))
    }

    @Test func nobodyListensThere() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("s")
        #expect(throws: SystemError("connect", code: ENOENT)) { _ = try StreamSocket.connect(to: path) }
        let stale = try BoundSocket(.stream, at: path)
        #expect(throws: SystemError("connect", code: ECONNREFUSED)) { _ = try StreamSocket.connect(to: path) }
        #expect(stale.number >= 0)
        let long = Path(String(repeating: "p", count: 108))
        #expect(throws: SystemError("connect", code: ENAMETOOLONG)) { _ = try StreamSocket.connect(to: long) }
    }

    @Test func aFullQueueOfConnectionsIsATimeout() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("s")
        let listener = try ListeningSocket(at: path, mode: 0o600, backlog: 0)
        let first = try StreamSocket.connect(to: path)
        let timeout = SystemError("connect", code: ETIMEDOUT)
        #expect(throws: timeout) { _ = try StreamSocket.connect(to: path, until: 0) }
        let deadline = MonotonicClock.now() + 20_000_000
        #expect(throws: timeout) { _ = try StreamSocket.connect(to: path, until: deadline) }
        #expect(MonotonicClock.now() >= deadline)
        guard case .connection = listener.accept() else { throw NoConnection() }
        let second = try StreamSocket.connect(to: path, until: soon())
        #expect(first.number != second.number)
    }

    /// SCM_RIGHTS, whose macros Swift does not see: a header of length, level and type, then the descriptor.
    private func send(_ text: String, with descriptor: Int32, over socket: Int32) throws {
        var control = [UInt8](repeating: 0, count: 24)
        control.withUnsafeMutableBytes { raw in
            raw.storeBytes(of: 20, toByteOffset: 0, as: Int.self)
            raw.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
            raw.storeBytes(of: Int32(SCM_RIGHTS), toByteOffset: 12, as: Int32.self)
            raw.storeBytes(of: descriptor, toByteOffset: 16, as: Int32.self)
        }
        var bytes = Array(text.utf8)
        let sent = bytes.withUnsafeMutableBytes { bytes in
            control.withUnsafeMutableBytes { control in
                var piece = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                return withUnsafeMutablePointer(to: &piece) { piece in
                    var message = msghdr()
                    message.msg_iov = piece
                    message.msg_iovlen = 1
                    message.msg_control = control.baseAddress
                    message.msg_controllen = control.count
                    return sendmsg(socket, &message, 0)
                }
            }
        }
        try #require(sent == bytes.count)
    }
}
