import WireProtocol

/// What a post touches of each connection that it goes to: plain words side by side, so that a fan-out is a walk over
/// memory without reference counts.
///
/// Bytes are first *noted*, as a range of the turn's segment or of the sender's own buffer, and offered to the kernel
/// at the next flush; what it doesn't take is *queued* in the session's outbox.
struct Outlet {
    /// The range that was noted last; the next one often follows on it and just extends it. Earlier ones are the
    /// session's `pieces`.
    var openStart: UnsafeRawPointer?
    var openEnd: UnsafeRawPointer?
    /// Bytes and notifications noted since the last flush.
    var noted = 0
    var notedNotifications = 0
    /// Bytes in the outbox.
    var queued = 0
    var overflow = Overflow.wait
    /// Whether the connection is among those that the next flush visits.
    var isTouched = false
    /// Whether the kernel refused bytes and hasn't asked for more since.
    var isBlocked = false
    /// When the kernel began to refuse them.
    var blockedSince: UInt64 = 0
    /// Whether notifications were dropped that no gap has told yet.
    var isMissingSome = false
    /// Whether nothing more can be written: what is noted is forgotten.
    var isClosed = false

    var pending: Int { noted &+ queued }

    /// Whether a notification can be noted without a thought about overflow.
    func hasRoom(for size: Int, limit: Int) -> Bool { pending &+ size <= limit && !isMissingSome }

    /// Whether the next notification is dropped like the last one: with the gap that stands before it there is no room.
    func dropsMore(size: Int, limit: Int) -> Bool {
        guard isMissingSome, case .drop = overflow else { return false }
        return pending > 0 && pending &+ Gap.frameBytes &+ size > limit
    }
}

/// What was dropped for a connection.
struct Losses {
    /// What no gap has told yet.
    var missing = Gap()
    /// All in all.
    var dropped: UInt64 = 0
}

/// A range of bytes that waits for the flush.
package struct Piece {
    package var start: UnsafeRawPointer
    package var count: Int

    /// No bytes at all.
    package static var none: Piece {
        let nothing: StaticString = ""
        return Piece(start: UnsafeRawPointer(nothing.utf8Start), count: 0)
    }
}
