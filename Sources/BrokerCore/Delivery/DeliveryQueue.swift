import WireProtocol

/// What a connection still has to be sent: an ordered run of bytes in chunks, some copied, some held by reference.
///
/// A chunk begins anywhere in a frame only at the head of the queue; a frame's header never lies across two chunks.
final class DeliveryQueue {
    private struct Chunk {
        var storage: ByteStorage
        var start: Int
        var end: Int
    }

    private static let blockSize = 64 << 10

    private var chunks: [Chunk] = []
    private var head = 0
    /// The block that copies go to, and how far it is filled.
    private var block: ByteStorage?
    private var blockUsed = 0
    private(set) var bytes = 0
    private(set) var notifications = 0

    var isEmpty: Bool { bytes == 0 }

    /// Appends bytes, which hold whole frames' ends for `notifications` notifications.
    func append(_ piece: Piece, notifications added: Int, in owner: ByteStorage, byReference: Bool) {
        bytes += piece.count
        notifications += added
        if byReference {
            let start = UnsafeRawPointer(piece.start) - UnsafeRawPointer(owner.base)
            chunks.append(Chunk(storage: owner, start: start, end: start + piece.count))
        } else {
            copy(piece)
        }
    }

    private func copy(_ piece: Piece) {
        if let block, blockUsed + piece.count <= block.capacity {
            (block.base + blockUsed).copyMemory(from: piece.start, byteCount: piece.count)
            if let last = chunks.last, chunks.count > head, last.storage === block, last.end == blockUsed {
                chunks[chunks.count - 1].end += piece.count
            } else {
                chunks.append(Chunk(storage: block, start: blockUsed, end: blockUsed + piece.count))
            }
            blockUsed += piece.count
            return
        }
        let fresh = ByteStorage(capacity: max(piece.count, bytes > 4096 ? Self.blockSize : 1024))
        fresh.base.copyMemory(from: piece.start, byteCount: piece.count)
        chunks.append(Chunk(storage: fresh, start: 0, end: piece.count))
        block = fresh
        blockUsed = piece.count
    }

    /// Fills `pieces` from the head on; answers how many.
    func gather(_ pieces: UnsafeMutableBufferPointer<Piece>) -> Int {
        let count = min(pieces.count, chunks.count - head)
        for index in 0..<count {
            let chunk = chunks[head + index]
            pieces[index] = Piece(
                start: UnsafeRawPointer(chunk.storage.base) + chunk.start, count: chunk.end - chunk.start)
        }
        return count
    }

    /// Removes what was written; answers how many notifications that completed.
    func remove(_ written: Int, _ ledger: inout FrameLedger) -> Int {
        bytes -= written
        var left = written
        var ended = 0
        while left > 0 {
            let chunk = chunks[head]
            let step = min(left, chunk.end - chunk.start)
            ended += ledger.advance(UnsafeRawPointer(chunk.storage.base) + chunk.start, by: step)
            left -= step
            if step == chunk.end - chunk.start { head += 1 } else { chunks[head].start += step }
        }
        notifications -= ended
        trim()
        return ended
    }

    private func trim() {
        if head == chunks.count {
            chunks.removeAll(keepingCapacity: true)
            head = 0
            block = nil
        } else if head >= 64, head * 2 >= chunks.count {
            chunks.removeFirst(head)
            head = 0
        }
    }

    /// Removes all but the rest of the frame under way. Answers how many notifications went.
    func discard(keeping ledger: FrameLedger) -> Int {
        let stays = ledger.isInNotification ? 1 : 0
        let gone = notifications - stays
        var kept: [Chunk] = []
        var missing = ledger.left
        for chunk in chunks[head...] where missing > 0 {
            let step = min(missing, chunk.end - chunk.start)
            kept.append(Chunk(storage: chunk.storage, start: chunk.start, end: chunk.start + step))
            missing -= step
        }
        chunks = kept
        head = 0
        block = nil
        bytes = ledger.left - missing
        notifications = stays
        return gone
    }

    /// Hands each chunk to `body`, for a queue of another kind to take over.
    func forEachChunk(_ body: (Piece, ByteStorage) -> Void) {
        for chunk in chunks[head...] {
            let start = UnsafeRawPointer(chunk.storage.base) + chunk.start
            body(Piece(start: start, count: chunk.end - chunk.start), chunk.storage)
        }
    }
}
