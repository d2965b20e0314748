import Glibc
package import UnixIO

/// A Unix datagram socket bound to a path, as a service manager has one.
package final class DatagramSocket {
    private let stream: ByteStream
    private unowned let stage: Stage

    package init(at path: Path, on stage: Stage) throws {
        self.stage = stage
        let socket = Descriptor(
            adopting: socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.bytes) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw TestFailure("can't bind \(path): \(errno)") }
        stream = stage.read(socket)
    }

    /// Waits until that has come.
    package func expect(_ text: String) throws {
        _ = try stage.wait(for: "'\(text)' at the datagram socket") {
            String(decoding: stream.bytes, as: UTF8.self).contains(text) ? true : nil
        }
    }
}
