import Glibc
package import UnixIO

func duplicate(_ number: Int32) -> Int32 {
    fcntl(number, F_DUPFD_CLOEXEC, 3)
}

/// For all who share the open file.
package func setNonblocking(_ number: Int32) throws {
    guard fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK) == 0 else {
        throw TestFailure("fcntl failed: \(errno)")
    }
}

/// A pseudo-terminal: `tool` is what a tool takes for its user's terminal; what the tool shows comes from `screen`.
package final class Terminal {
    package let tool: Descriptor
    package let screen: ByteStream
    private let user: Descriptor

    package init(on stage: Stage) throws {
        user = Descriptor(adopting: open("/dev/ptmx", O_RDWR | O_NOCTTY | Int32(O_CLOEXEC)))
        var locked: Int32 = 0
        var number: UInt32 = 0
        guard ioctl(user.number, Self.setLock, &locked) == 0, ioctl(user.number, Self.getNumber, &number) == 0
        else { throw TestFailure("no pseudo-terminal: \(errno)") }
        tool = Descriptor(adopting: open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | Int32(O_CLOEXEC)))
        guard tool.number >= 0 else { throw TestFailure("can't open the pseudo-terminal: \(errno)") }
        screen = stage.read(Descriptor(adopting: duplicate(user.number)))
    }

    // TIOCSPTLCK and TIOCGPTN, which the Glibc module lacks.
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    package func type(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { Streams.writeAll($0, to: user.number) }
    }

    package var text: String { String(decoding: screen.bytes, as: UTF8.self) }
}
