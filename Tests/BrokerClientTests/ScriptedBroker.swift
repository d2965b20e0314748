import Endpoint
import TestSupport
import Testing
import UnixIO

@testable import BrokerClient

/// The broker's end, played by the test in the same thread: sockets hold enough for what a test says at once.
struct ScriptedBroker: ~Copyable {
    private let directory: TemporaryDirectory
    private let listener: ListeningSocket
    let place: SocketPath

    init() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("broker.sock")
        let listener = try ListeningSocket(at: path, mode: 0o600)
        self.directory = directory
        self.listener = listener
        place = SocketPath(path, .given)
    }

    func accept() throws -> ScriptedPeer {
        _ = try PollEntry.wait(for: listener.number, .readable, until: soon())
        switch listener.accept() {
        case .connection(let socket, _): return ScriptedPeer(socket)
        default: throw TestFailure("nobody connects")
        }
    }
}

struct ScriptedPeer: ~Copyable {
    let socket: StreamSocket
    private var received: [UInt8] = []

    init(_ socket: consuming StreamSocket) {
        self.socket = socket
    }

    func send(raw bytes: [UInt8]) throws {
        guard case .bytes(bytes.count) = bytes.withUnsafeBytes({ socket.write($0) }) else {
            throw TestFailure("the client's socket takes no \(bytes.count) bytes")
        }
    }

    func send(_ json: String) throws {
        try send(raw: FrameClient.frame(json))
    }

    /// The JSON text of the next frame.
    mutating func frame() throws -> String {
        while true {
            if received.count >= 4 {
                let count = received.prefix(4).reduce(0) { $0 << 8 | Int($1) }
                if received.count >= 4 + count {
                    defer { received.removeFirst(4 + count) }
                    return String(decoding: received[4..<4 + count], as: UTF8.self)
                }
            }
            _ = try PollEntry.wait(for: socket.number, .readable, until: soon())
            guard try readOnce() > 0 else { throw TestFailure("no frame comes") }
        }
    }

    /// How many bytes were there.
    mutating func readOnce() throws -> Int {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        switch buffer.withUnsafeMutableBytes({ socket.read(into: $0) }) {
        case .bytes(let count):
            received += buffer[..<count]
            return count
        case .wouldBlock, .endOfFile: return 0
        case .failed(let error): throw error
        }
    }

    var receivedCount: Int { received.count }
}

func soon() -> UInt64 { MonotonicClock.now() + 20_000_000_000 }
