import UnixIO

/// One connection to the broker. The center's I/O thread alone reads; who holds the center's lock writes.
final class Connection: Sendable {
    let socket: StreamSocket

    init(_ socket: consuming StreamSocket) {
        self.socket = socket
    }
}

/// What the center's I/O thread waits on beside its connection.
final class Waker: Sendable {
    let descriptor: WakeDescriptor

    init() throws(SystemError) {
        descriptor = try WakeDescriptor()
    }

    func wake() {
        descriptor.wake()
    }
}
