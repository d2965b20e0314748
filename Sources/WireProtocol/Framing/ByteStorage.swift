/// A fixed piece of memory that several owners can hold.
///
/// Frames are read into it and decoded in place; a queue that has to wait keeps a reference instead of a copy. It
/// is written only by the one who made it, behind what readers were given, so that bytes once handed out never change.
package final class ByteStorage {
    package let base: UnsafeMutableRawPointer
    package let capacity: Int

    package init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(byteCount: max(capacity, 1), alignment: 16)
    }

    deinit {
        base.deallocate()
    }

    package func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        // SAFETY: a range outside the storage is a fault of the caller, never of a peer.
        precondition(range.lowerBound >= 0 && range.upperBound <= capacity)
        return UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
    }
}
