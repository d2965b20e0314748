/// Frames on their way to the broker, first in, first out, over connections.
///
/// A frame that the kernel took whole is gone: nobody knows whether the broker saw it, and sent again it could
/// arrive twice. One that it took in part is sent again whole on the next connection, where the broker has
/// thrown the part away. What makes sense only on its own connection (`addObserver`, `ping`, ...) goes with it.
struct Outbox: Sendable {
    typealias Frame = OutboxFrames.Frame

    private static let worthCompacting = 64 * 1024
    private static let worthEmptying = 4 * 1024

    private var bytes: [UInt8] = []
    private var taken = 0
    private var frames = OutboxFrames()
    private var firstFrame = 0

    var isEmpty: Bool { taken == bytes.count }
    var unsentCount: Int { bytes.count - taken }

    private var firstFrameStart: Int { firstFrame == 0 ? 0 : frames.end(of: firstFrame - 1) }

    /// `encode` appends exactly one frame.
    mutating func append(_ kind: Frame.Kind, id: RequestID?, _ encode: (inout [UInt8]) -> Void) {
        encode(&bytes)
        frames.append(kind, id: id, end: bytes.count)
    }

    private mutating func append(_ frame: Frame, _ content: ArraySlice<UInt8>) {
        append(frame.kind, id: frame.id) { $0.append(contentsOf: content) }
    }

    func withUnsent<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[taken...])) }
    }

    mutating func kernelTook(_ count: Int) {
        precondition(count <= unsentCount, "the kernel took \(count) bytes of \(unsentCount)")
        taken += count
        while firstFrame < frames.count && frames.end(of: firstFrame) <= taken {
            firstFrame += 1
        }
        if isEmpty {
            // Not for each frame: to empty the arrays costs more than to fill them.
            if bytes.count < Self.worthEmptying { return }
            bytes.removeAll(keepingCapacity: bytes.capacity <= 16 * Self.worthCompacting)
            frames.removeAll()
            taken = 0
            firstFrame = 0
        } else if firstFrameStart > Self.worthCompacting && firstFrameStart > bytes.count / 2 {
            compact()
        }
    }

    private mutating func compact() {
        let start = firstFrameStart
        bytes.removeFirst(start)
        frames.removeFirst(firstFrame)
        taken -= start
        firstFrame = 0
    }

    /// Puts the opening frames of a new connection before what waits.
    mutating func open(with opening: Outbox) {
        let waiting = self
        self = opening
        for (frame, content) in waiting.unfinished {
            append(frame, content)
        }
    }

    /// Keeps the posts that did not go out whole. Returns their ids.
    mutating func connectionEnded() -> Set<RequestID> {
        var kept = Outbox()
        var ids: Set<RequestID> = []
        for (frame, content) in unfinished {
            guard case .post = frame.kind else { continue }
            kept.append(frame, content)
            if let id = frame.id {
                ids.insert(id)
            }
        }
        self = kept
        return ids
    }

    /// Takes out the posts that have waited since before `limit`. Only without a connection.
    mutating func expire(before limit: UInt64) -> [UnsentPost] {
        precondition(taken == 0, "posts expire only while nothing of them is under way")
        var expired: [UnsentPost] = []
        var kept = Outbox()
        for (frame, content) in unfinished {
            if case .post(let name, let since) = frame.kind, since < limit {
                expired.append(UnsentPost(name: name, id: frame.id))
            } else {
                kept.append(frame, content)
            }
        }
        if !expired.isEmpty {
            self = kept
        }
        return expired
    }

    private var unfinished: [(Frame, ArraySlice<UInt8>)] {
        var start = firstFrameStart
        return (firstFrame..<frames.count).map { index in
            let frame = frames[index]
            defer { start = frame.end }
            return (frame, bytes[start..<frame.end])
        }
    }
}

/// A post that found no way to the broker: certainly not delivered.
package struct UnsentPost: Hashable, Sendable {
    package let name: String
    package let id: RequestID?
}
