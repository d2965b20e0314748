internal import CLinux
internal import Glibc

/// A system call that the kernel refused.
package struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    package let call: StaticString
    package let code: Int32

    package init(_ call: StaticString, code: Int32) {
        self.call = call
        self.code = code
    }

    package var reason: String { String(cString: linux_error_text(code)) }
    package var description: String { "\(call): \(reason)" }

    package var isMissing: Bool { code == ENOENT || code == ENOTDIR }
    package var isPermission: Bool { code == EACCES || code == EPERM }
    package var isConnectionRefused: Bool { code == ECONNREFUSED }
    package var isConnectionReset: Bool { code == ECONNRESET }
    package var isTimeout: Bool { code == ETIMEDOUT }
    package var isAddressInUse: Bool { code == EADDRINUSE }
    package var isWrongSocketType: Bool { code == EPROTOTYPE }
    package var isLinkLoop: Bool { code == ELOOP }
    package var isBadDescriptor: Bool { code == EBADF }
    package var isArgumentListTooLong: Bool { code == E2BIG }

    package static func == (one: SystemError, other: SystemError) -> Bool {
        one.code == other.code && one.call.description == other.call.description
    }
}
