internal import CLinux

/// What a descriptor is watched for, and what was found. `hangUp`, `error` and `invalid` are told unasked.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package static let readable = Readiness(rawValue: UInt32(linux_readable))
    package static let writable = Readiness(rawValue: UInt32(linux_writable))
    /// The peer writes no more.
    package static let peerClosed = Readiness(rawValue: UInt32(linux_peer_closed))
    /// Neither side writes any more, or the peer is gone.
    package static let hangUp = Readiness(rawValue: UInt32(linux_hang_up))
    package static let error = Readiness(rawValue: UInt32(linux_error))
    /// The number is no open descriptor; only `PollEntry` tells it.
    package static let invalid = Readiness(rawValue: UInt32(linux_invalid))

    /// Not the one that all option sets have: it asks the run-time for a conformance first.
    package var isEmpty: Bool { rawValue == 0 }

    /// Whether a read would find something: bytes, an end or an error, of the number too.
    package var tellsOfInput: Bool {
        rawValue
            & (UInt32(linux_readable) | UInt32(linux_peer_closed) | UInt32(linux_hang_up)
                | UInt32(linux_error) | UInt32(linux_invalid)) != 0
    }

    /// Whether the peer takes nothing any more.
    package var tellsOfClosedOutput: Bool { rawValue & (UInt32(linux_hang_up) | UInt32(linux_error)) != 0 }
}
