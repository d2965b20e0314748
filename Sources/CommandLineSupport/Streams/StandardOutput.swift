package import UnixIO

/// Standard output. What `write` returned from is with the kernel; nothing is held back in a buffer.
package enum StandardOutput {
    package enum Trouble: Error, Equatable, Sendable {
        /// Nobody reads any more, or it was closed from the start.
        case closed
        /// The limit came while the reader was not ready for all of it.
        case interrupted
        case failed(SystemError)

        /// How a tool ends that lives for its output: quietly where nobody wants more of it.
        package var failure: Failure? {
            switch self {
            case .closed, .interrupted: nil
            case .failed(let error): Failure(.outputFailed, "can't write to standard output: \(error.reason)")
            }
        }
    }

    package static var isTerminal: Bool { Streams.isTerminal(Streams.output) }

    /// Whether writing to it is known to be in vain, without trying.
    package static var isClosed: Bool {
        let found = try? PollEntry.wait(for: Streams.output, [], until: 0)
        return found.map { !$0.isDisjoint(with: [.error, .hangUp, .invalid]) } ?? false
    }

    /// Writes all of it, and waits for a reader that is slower, though not beyond the limit.
    package static func write(_ bytes: [UInt8], until limit: WaitLimit = .none) throws(Trouble) {
        let outcome = bytes.withUnsafeBytes { bytes in
            Streams.writeAll(bytes, to: Streams.output, deadline: limit.deadline, alarm: limit.alarm)
        }
        switch outcome {
        case .done: break
        case .closed: throw .closed
        case .interrupted: throw .interrupted
        case .failed(let error) where error.isBadDescriptor: throw .closed
        case .failed(let error): throw .failed(error)
        }
    }
}

/// Standard error, where nothing can be done about what goes wrong.
package enum StandardError {
    package static func write(_ bytes: [UInt8], until limit: WaitLimit = .none) {
        bytes.withUnsafeBytes { bytes in
            _ = Streams.writeAll(bytes, to: Streams.error, deadline: limit.deadline, alarm: limit.alarm)
        }
    }
}
