package enum ReadOutcome: Equatable, Sendable {
    case bytes(Int)
    case wouldBlock
    case endOfFile
    /// `ECONNRESET` too; what the peer wrote before has been read by then.
    case failed(SystemError)
}

package enum WriteOutcome: Equatable, Sendable {
    /// As many as the kernel took, which may be fewer than were offered.
    case bytes(Int)
    case wouldBlock
    /// The peer reads no more.
    case closed
    case failed(SystemError)
}
