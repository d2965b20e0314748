internal import Glibc

/// The service manager that started this process, if one did.
package enum ServiceManager {
    /// Tells it that the process is ready. `address` is the value of `NOTIFY_SOCKET`: a path, or `@` and an abstract name.
    package static func notifyReady(_ address: [UInt8]) throws(SystemError) {
        let descriptor = Descriptor(
            adopting: Int32(try check("socket", SystemCalls.unixSocket(SOCK_DGRAM, nonblocking: true))))
        let isAbstract = address.first == UInt8(ascii: "@")
        let target = isAbstract ? [0] + address.dropFirst() : address
        try check("sendto", SystemCalls.send(descriptor.number, Array("READY=1".utf8), to: target))
    }

    /// How many descriptors, from number 3 on, it passed to this very process.
    package static func passedDescriptors(
        environment: (String) -> [UInt8]?, pid: Int32
    ) -> Int {
        if let owner = environment("LISTEN_PID"), number(owner) != Int(pid) { return 0 }
        return environment("LISTEN_FDS").flatMap(number).map { max($0, 0) } ?? 0
    }

    package static let firstPassedDescriptor: Int32 = 3
    package static let variables = ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET"]

    private static func number(_ text: [UInt8]) -> Int? {
        Int(String(decoding: text, as: UTF8.self))
    }
}
