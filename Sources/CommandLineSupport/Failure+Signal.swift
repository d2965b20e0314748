package import UnixIO

extension ExitStatus {
    /// What a shell tells of a process that the signal ended.
    package init(endedBy signal: Signal) {
        self = signal == .interrupt ? .interrupted : .terminated
    }
}

extension Failure {
    package init(endedBy signal: Signal) {
        self.init(ExitStatus(endedBy: signal), "ended by \(signal == .interrupt ? "SIGINT" : "SIGTERM")")
    }
}
