internal import CLinux
internal import Glibc

/// A process that this one started. It must be waited for, or it stays as a zombie.
package struct ChildProcess: ~Copyable, Sendable {
    package enum End: Equatable, Sendable {
        case exited(Int32)
        case signaled(Signal)
    }

    package let pid: Int32

    /// Starts a program with default signals and only the descriptors named here, applied in order: after `(from, to)` the
    /// child's `to` is this process's `from`. Of 0, 1 and 2 it inherits those that are not named.
    /// A program without slash is looked for in PATH.
    package init(
        program: Path, arguments: [[UInt8]], environment: [[UInt8]],
        descriptors: [(from: Int32, to: Int32)] = []
    ) throws(SystemError) {
        let moves = descriptors.flatMap { [$0.from, $0.to] }
        let firstClosed = max(descriptors.map(\.to).max() ?? 2, 2) + 1
        var pid: pid_t = 0
        let code = program.withCString { program in
            Self.withCStrings(arguments) { arguments in
                Self.withCStrings(environment) { environment in
                    linux_spawn(
                        &pid, program, arguments, environment, moves, descriptors.count, firstClosed)
                }
            }
        }
        guard code == 0 else { throw SystemError("posix_spawn", code: code) }
        self.pid = pid
    }

    /// Becomes readable when the process has ended.
    package func endDescriptor() throws(SystemError) -> Descriptor {
        try Descriptor.endOfProcess(pid)
    }

    /// Waits for its end.
    package func wait() throws(SystemError) -> End {
        var status: Int32 = 0
        try check("waitpid", SystemCalls.wait(pid, &status, blocking: true))
        return End(status)
    }

    /// How it ended; nil if it has not. Not to be asked again after an answer.
    package func endIfEnded() throws(SystemError) -> End? {
        var status: Int32 = 0
        return try check("waitpid", SystemCalls.wait(pid, &status, blocking: false)) == 0 ? nil : End(status)
    }

    package func send(_ signal: Signal) throws(SystemError) {
        try check("kill", SystemCalls.kill(pid, signal.rawValue))
    }

    private static func withCStrings<Result>(
        _ strings: [[UInt8]], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var flat: [CChar] = []
        var offsets: [Int] = []
        for string in strings {
            offsets.append(flat.count)
            flat += string.lazy.map { CChar(bitPattern: $0) }
            flat.append(0)
        }
        flat.append(0)
        return flat.withUnsafeMutableBufferPointer { buffer in
            // SAFETY: each offset lies in the buffer, each string ends in NUL, and all live until `body` returns.
            let pointers = offsets.map { buffer.baseAddress?.advanced(by: $0) } + [nil]
            return pointers.withUnsafeBufferPointer { body($0.baseAddress.unsafelyUnwrapped) }
        }
    }
}

extension ChildProcess.End {
    init(_ status: Int32) {
        self =
            linux_status_exited(status) != 0
            ? .exited(linux_status_exit_code(status))
            : .signaled(Signal(rawValue: linux_status_signal(status)))
    }
}

extension Descriptor {
    /// Becomes readable when that process, a child or not, has ended.
    package static func endOfProcess(_ pid: Int32) throws(SystemError) -> Descriptor {
        Descriptor(adopting: Int32(try check("pidfd_open", SystemCalls.processDescriptor(pid))))
    }
}
