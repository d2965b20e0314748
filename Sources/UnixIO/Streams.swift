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
            // The lowest free number is this one, as all below are open.
            _ = try? openBroken().release()
        }
    }

    /// A descriptor that refuses to be read and written with `EBADF`.
    package static func openBroken() throws(SystemError) -> Descriptor {
        Descriptor(adopting: Int32(try check("open", SystemCalls.openForNothing("/dev/null"))))
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
        /// The deadline came or the alarm became readable while the reader took nothing; so many bytes are written.
        case interrupted(Int)
        /// Nobody reads any more.
        case closed
        case failed(SystemError)
    }

    /// Writes all of it, and waits for the reader where it must. The wait ends at the deadline, or when the alarm (a
    /// `SignalDescriptor`'s number, say) becomes readable: what is limited so is written in pieces that a ready pipe takes
    /// without blocking, cut behind a newline where there is one, so that lines of several writers don't mix.
    package static func writeAll(
        _ bytes: UnsafeRawBufferPointer, to number: Int32, deadline: UInt64? = nil, alarm: Int32? = nil
    ) -> WriteAllOutcome {
        let isLimited = deadline != nil || alarm != nil
        let isFile = isLimited && (try? FileStatus(of: number))?.kind == .regular
        var mustWait = isLimited && !isFile
        var written = 0
        while written < bytes.count {
            if mustWait {
                var entries = [PollEntry(number, .writable), PollEntry(alarm ?? -1, .readable)]
                do throws(SystemError) {
                    try PollEntry.wait(for: &entries, until: deadline)
                } catch {
                    return .failed(error)
                }
                if entries[0].readiness.isEmpty { return .interrupted(written) }
            }
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            switch write(isLimited && !isFile ? piece(of: rest) : rest, to: number) {
            case .bytes(let count): written += count
            case .wouldBlock: mustWait = true
            case .closed: return .closed
            case .failed(let error): return .failed(error)
            }
        }
        return .done
    }

    private static func piece(of bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let piece = UnsafeRawBufferPointer(rebasing: bytes.prefix(pipePiece))
        guard piece.count < bytes.count, let newline = piece.lastIndex(of: UInt8(ascii: "\n")) else {
            return piece
        }
        return UnsafeRawBufferPointer(rebasing: piece[...newline])
    }

    /// POSIX's PIPE_BUF on Linux.
    private static let pipePiece = 4096
}
