/// Cuts a byte stream into frames: a 4-byte big-endian length, then that many bytes.
///
/// Bytes are loaded where they were read; whole frames are found there in place. Only a torn tail, or what is left when
/// the reader has to stop half-way, is copied to a storage of the decoder's own. Where a chunk ends makes no difference
/// to the frames that come out.
///
/// Usage: `load`, then `next()` until it answers `.needsMore`; or `stash()` to stop in between and go on later.
package final class FrameDecoder {
    package enum Step {
        /// A whole frame's JSON text. It lies in `storage` and is valid until the next call.
        case frame(UnsafeRawBufferPointer)
        case needsMore
        case failed(FramingError)
    }

    package enum FramingError: Error, Hashable, Sendable {
        case zeroLength
        case tooLarge(length: Int, limit: Int)

        package var protocolError: ProtocolError {
            switch self {
            case .zeroLength:
                ProtocolError(.invalidLength, "a frame of length 0: the length must be at least 1")
            case .tooLarge(let length, let limit):
                ProtocolError(.frameTooLarge, "a frame of \(length) bytes: the limit is \(limit) bytes")
            }
        }
    }

    private let limit: Int
    private var input: ByteStorage?
    // SAFETY: the memory of `input`, without the reference count; nil when that is.
    private var inputBase: UnsafeMutableRawPointer?
    private var position = 0
    private var end = 0
    private var kept: ByteStorage?
    private var keptStart = 0
    private var keptEnd = 0
    private var lastWasKept = false

    package init(limit: Int) {
        self.limit = limit
    }

    /// The storage in which the last frame lies.
    package var storage: ByteStorage? { lastWasKept ? kept : input }

    /// Forgets everything.
    package func reset() {
        input = nil
        inputBase = nil
        position = 0
        end = 0
        kept = nil
        keptStart = 0
        keptEnd = 0
        lastWasKept = false
    }

    /// Whether the decoder holds the beginning of a frame, or whole frames that nobody asked for yet.
    package var isEmpty: Bool { keptStart == keptEnd && position == end }

    private var claimed = 0

    /// The length of the frame that was seen last, whole or not.
    package var lastLength: Int { claimed }

    /// Bytes that were loaded and not yet handed out.
    package var buffered: Int { keptEnd - keptStart + end - position }

    /// Gives the decoder what was read. What it was given before must have been used up or stashed.
    package func load(_ storage: ByteStorage, _ range: Range<Int>) {
        precondition(position == end, "loaded before the last bytes were used")
        input = storage
        inputBase = storage.base
        position = range.lowerBound
        end = range.upperBound
    }

    package func next() -> Step {
        if keptStart == keptEnd { return nextInPlace() }
        return nextKept()
    }

    private func nextInPlace() -> Step {
        let available = end - position
        guard available >= 4, let inputBase else {
            stash()
            return .needsMore
        }
        // SAFETY: at least four bytes lie between position and end.
        let length = Int(
            UInt32(bigEndian: inputBase.loadUnaligned(fromByteOffset: position, as: UInt32.self)))
        claimed = length
        if length == 0 { return .failed(.zeroLength) }
        if length > limit { return .failed(.tooLarge(length: length, limit: limit)) }
        guard available - 4 >= length else {
            keepRest(reserving: 4 + length)
            return .needsMore
        }
        let frame = UnsafeRawBufferPointer(start: inputBase + position + 4, count: length)
        position += 4 + length
        lastWasKept = false
        return .frame(frame)
    }

    private func nextKept() -> Step {
        take(upTo: 4)
        guard keptEnd - keptStart >= 4, let storage = kept else { return .needsMore }
        let length = Int(
            UInt32(bigEndian: storage.base.loadUnaligned(fromByteOffset: keptStart, as: UInt32.self)))
        claimed = length
        if length == 0 { return .failed(.zeroLength) }
        if length > limit { return .failed(.tooLarge(length: length, limit: limit)) }
        if keptEnd - keptStart < 4 + length {
            makeRoom(for: 4 + length)
            take(upTo: 4 + length)
        }
        guard keptEnd - keptStart >= 4 + length, let storage = kept else { return .needsMore }
        let frame = UnsafeRawBufferPointer(start: storage.base + keptStart + 4, count: length)
        keptStart += 4 + length
        lastWasKept = true
        return .frame(frame)
    }

    /// Copies loaded bytes behind the kept ones until there are `count`.
    private func take(upTo count: Int) {
        let missing = min(count - (keptEnd - keptStart), end - position)
        guard missing > 0, let input else { return }
        if kept.map({ keptEnd + missing > $0.capacity }) ?? true { makeRoom(for: max(count, 512)) }
        guard let kept else { return }
        (kept.base + keptEnd).copyMemory(from: input.base + position, byteCount: missing)
        keptEnd += missing
        position += missing
    }

    /// Moves the kept bytes to a storage in which `count` bytes fit from their start.
    private func makeRoom(for count: Int) {
        if let kept, kept.capacity - keptStart >= count { return }
        let moved = ByteStorage(capacity: max(count, keptEnd - keptStart))
        if let kept { moved.base.copyMemory(from: kept.base + keptStart, byteCount: keptEnd - keptStart) }
        keptEnd -= keptStart
        keptStart = 0
        kept = moved
    }

    /// Keeps what is left of the loaded bytes, and lets go of the storage that they lie in.
    package func stash() {
        keepRest(reserving: 0)
    }

    private func keepRest(reserving room: Int) {
        let left = end - position
        if keptStart == keptEnd {
            keptStart = 0
            keptEnd = 0
            kept = room > 0 ? ByteStorage(capacity: room) : nil
        }
        if left > 0 { take(upTo: keptEnd - keptStart + left) }
        input = nil
        inputBase = nil
        position = 0
        end = 0
    }

    /// Where the rest of a long frame under way may be read to directly, without a copy; nil if there is none.
    package func directSpace(atLeast minimum: Int) -> UnsafeMutableRawBufferPointer? {
        guard position == end, keptEnd - keptStart >= 4, let kept else { return nil }
        let length = Int(
            UInt32(bigEndian: kept.base.loadUnaligned(fromByteOffset: keptStart, as: UInt32.self)))
        let missing = 4 + length - (keptEnd - keptStart)
        guard length <= limit, missing >= minimum, keptEnd + missing <= kept.capacity else { return nil }
        return UnsafeMutableRawBufferPointer(start: kept.base + keptEnd, count: missing)
    }

    /// Says that `count` bytes were read to `directSpace`.
    package func didFillDirectly(_ count: Int) {
        keptEnd += count
    }
}
