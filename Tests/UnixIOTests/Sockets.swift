import TestSupport
import UnixIO

/// A deadline that a passing test never comes near.
func soon() -> UInt64 {
    MonotonicClock.now() + 10_000_000_000
}

/// Two connected sockets in a directory of their own: `left` blocks, `right`, the accepted one, does not.
struct ConnectedPair: ~Copyable {
    let left: StreamSocket
    let right: StreamSocket

    init() throws {
        let directory = try TemporaryDirectory()
        let listener = try ListeningSocket(at: directory.path.appending("s"), mode: 0o600)
        let connected = try StreamSocket.connect(to: directory.path.appending("s"))
        guard case .connection(let accepted, _) = listener.accept() else { throw NoConnection() }
        left = connected
        right = accepted
    }
}

struct NoConnection: Error {}

extension StreamSocket {
    func read(upTo count: Int = 1 << 16) -> (outcome: ReadOutcome, bytes: [UInt8]) {
        var buffer = [UInt8](repeating: 0, count: count)
        let outcome = buffer.withUnsafeMutableBytes { read(into: $0) }
        guard case .bytes(let count) = outcome else { return (outcome, []) }
        return (outcome, Array(buffer[..<count]))
    }

    func write(_ text: String) -> WriteOutcome {
        Array(text.utf8).withUnsafeBytes { write($0) }
    }
}
