internal import Glibc

package struct Signal: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    package static let interrupt = Signal(rawValue: SIGINT)
    package static let terminate = Signal(rawValue: SIGTERM)
    package static let hangUp = Signal(rawValue: SIGHUP)
    package static let kill = Signal(rawValue: SIGKILL)
    package static let stop = Signal(rawValue: SIGSTOP)
    package static let resume = Signal(rawValue: SIGCONT)
    package static let brokenPipe = Signal(rawValue: SIGPIPE)
    package static let child = Signal(rawValue: SIGCHLD)

    /// What a shell tells of a process that the signal ended.
    package var exitStatus: Int32 { 128 + rawValue }

    /// Blocks them in this thread and in those that it starts from now on: call it before any other thread is there.
    package static func block(_ signals: [Signal]) throws(SystemError) {
        try check("pthread_sigmask", SystemCalls.blockSignals(signals.map(\.rawValue)))
    }

    /// For the whole process. Children that `ChildProcess` starts have the default again.
    package static func ignore(_ signal: Signal) {
        SystemCalls.ignoreSignal(signal.rawValue)
    }
}

/// Turns blocked signals into something to read, so that they arrive in a loop's turn and not between any two instructions.
package struct SignalDescriptor: ~Copyable, Sendable {
    private let descriptor: Descriptor

    package var number: Int32 { descriptor.number }

    /// Blocks the signals in this thread, too.
    package init(_ signals: [Signal]) throws(SystemError) {
        try Signal.block(signals)
        descriptor = Descriptor(
            adopting: Int32(try check("signalfd", SystemCalls.signalDescriptor(signals.map(\.rawValue)))))
    }

    /// The next that has come, if one has.
    package func next() -> Signal? {
        let number = SystemCalls.readSignal(descriptor.number)
        return number > 0 ? Signal(rawValue: Int32(number)) : nil
    }
}
