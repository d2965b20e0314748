internal import Glibc
package import UnixIO

/// A socket that has a file, or an abstract name, and does nothing: what a broker leaves that was killed, another program's
/// datagram socket. (Closing a listener is not enough to have a stale one at once: a child that another test is just starting
/// holds a copy until it has become another program.)
package struct BoundSocket: ~Copyable {
    package enum Kind: Sendable {
        case stream, datagram
    }

    private let descriptor: Descriptor

    package init(_ kind: Kind, at path: Path, isAbstract: Bool = false) throws(SystemError) {
        let type = kind == .stream ? SOCK_STREAM : SOCK_DGRAM
        descriptor = Descriptor(adopting: socket(AF_UNIX, Int32(type.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = isAbstract ? [0] + path.bytes : path.bytes + [0]
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor.number, $0, size) }
        }
        if result != 0 { throw SystemError("bind", code: errno) }
    }

    package var number: Int32 { descriptor.number }

    /// The datagram that has come, if one has.
    package func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = recv(descriptor.number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : Array(buffer[..<count])
    }
}
