/// Follows a connection's output and counts the notifications in it that were written whole.
///
/// The stream is length-prefixed, so the frames need no list: the ledger reads each length as the written bytes pass it.
struct FrameLedger {
    /// The bytes of the frame under way that are still to be written.
    private(set) var left = 0
    private var isNotification = false

    /// Whether the next byte begins a frame.
    var isAtBoundary: Bool { left == 0 }

    /// Whether a notification is under way.
    var isInNotification: Bool { left > 0 && isNotification }

    /// Takes note of `count` bytes that were written from `bytes` on; these must reach to the end of a frame's header.
    /// Answers how many notifications ended in them.
    mutating func advance(_ bytes: UnsafeRawPointer, by count: Int) -> Int {
        var position = 0
        var ended = 0
        while position < count {
            if left == 0 {
                left = FrameLedger.length(bytes + position)
                isNotification = FrameLedger.isNotification(bytes + position)
            }
            let step = min(left, count - position)
            position += step
            left -= step
            if left == 0, isNotification { ended += 1 }
        }
        return ended
    }

    /// The bytes of the frame whose header lies here, header included.
    static func length(_ frame: UnsafeRawPointer) -> Int {
        4 + Int(UInt32(bigEndian: frame.loadUnaligned(as: UInt32.self)))
    }

    /// Every frame of a broker begins with `{"type":"`, and only a notification's type with an n.
    static func isNotification(_ frame: UnsafeRawPointer) -> Bool {
        frame.load(fromByteOffset: 13, as: UInt8.self) == UInt8(ascii: "n")
    }
}
