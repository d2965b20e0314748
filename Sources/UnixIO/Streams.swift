internal import Glibc

/// Reading and writing of what is no socket: files, pipes, terminals, the standard streams. By number, since the standard
/// streams and those that a user names are not ours to close.
package enum Streams {
    package static let input: Int32 = 0
    package static let output: Int32 = 1
    package static let error: Int32 = 2

    package static func isTerminal(_ number: Int32) -> Bool {
        SystemCalls.isTerminal(number)
    }

    package static func isOpen(_ number: Int32) -> Bool {
        (try? FileStatus(of: number)) != nil
    }

    /// Opens what is closed of the three as if it were broken, so that no socket gets its number: reading from and writing to
    /// such a stream fails with `EBADF`, as it would have.
    package static func secureStandardStreams() {
        for number in [input, output, error] where !isOpen(number) {
            // The lowest free number is this one, as all below are open. O_PATH: neither readable nor writable.
            _ = SystemCalls.open("/dev/null", O_RDONLY | linuxPathOnly, mode: 0)
        }
    }

    package static func read(_ number: Int32, into buffer: UnsafeMutableRawBufferPointer) -> ReadOutcome {
        let count = SystemCalls.read(number, buffer)
        if count > 0 { return .bytes(count) }
        if count == 0 { return .endOfFile }
        return count == -Int(EAGAIN) ? .wouldBlock : .failed(SystemError("read", code: Int32(-count)))
    }

    /// Up to the end of file, or so many bytes.
    package static func readAll(_ number: Int32, limit: Int = .max) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < limit {
            switch buffer.withUnsafeMutableBytes({ read(number, into: $0) }) {
            case .bytes(let count): bytes += buffer[..<min(count, limit - bytes.count)]
            case .endOfFile: return bytes
            case .wouldBlock: _ = try PollEntry.wait(for: number, .readable, until: nil)
            case .failed(let error): throw error
            }
        }
        return bytes
    }

    package static func write(_ bytes: UnsafeRawBufferPointer, to number: Int32) -> WriteOutcome {
        let count = SystemCalls.write(number, bytes)
        if count >= 0 { return .bytes(count) }
        switch Int32(-count) {
        case EAGAIN: return .wouldBlock
        case EPIPE: return .closed
        case let code: return .failed(SystemError("write", code: code))
        }
    }

    package enum WriteAllOutcome: Equatable, Sendable {
        case done
        /// The alarm became readable; so many bytes are written.
        case interrupted(Int)
        /// Nobody reads any more.
        case closed
        case failed(SystemError)
    }

    /// Writes all of it, and waits for the reader where it must. With an alarm (a `SignalDescriptor`'s number, say) the wait
    /// ends when that becomes readable: written in pieces that a ready pipe takes without blocking.
    package static func writeAll(
        _ bytes: UnsafeRawBufferPointer, to number: Int32, alarm: Int32? = nil
    ) -> WriteAllOutcome {
        var written = 0
        while written < bytes.count {
            if let alarm {
                var entries = [PollEntry(number, .writable), PollEntry(alarm, .readable)]
                do throws(SystemError) {
                    try PollEntry.wait(for: &entries, until: nil)
                } catch {
                    return .failed(error)
                }
                if entries[0].readiness.isEmpty { return .interrupted(written) }
            }
            let rest = bytes[written...].prefix(alarm == nil ? .max : pipePiece)
            switch write(UnsafeRawBufferPointer(rebasing: rest), to: number) {
            case .bytes(let count): written += count
            case .wouldBlock:
                if alarm == nil, (try? PollEntry.wait(for: number, .writable, until: nil)) == nil {
                    return .failed(SystemError("poll", code: EIO))
                }
            case .closed: return .closed
            case .failed(let error): return .failed(error)
            }
        }
        return .done
    }

    /// POSIX's PIPE_BUF on Linux.
    private static let pipePiece = 4096
    /// O_PATH, which the Glibc module lacks.
    private static let linuxPathOnly: Int32 = 0o10000000
}
