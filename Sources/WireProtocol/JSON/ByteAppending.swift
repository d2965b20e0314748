extension [UInt8] {
    /// Appends what `write` puts down: it answers how many bytes, at most `capacity`.
    // SAFETY: the array has that much room; each caller adds up what it writes from the counts that it passes as `capacity`.
    @inlinable @inline(always)
    package mutating func append(atMost capacity: Int, _ write: (UnsafeMutableRawPointer) -> Int) {
        append(addingCapacity: capacity) { span in
            span.withUnsafeMutableBufferPointer { bytes, count in
                // SAFETY: without an address there is no capacity, and nothing to be written.
                if let start = bytes.baseAddress { count = write(start) }
            }
        }
    }

    @inlinable @inline(always)
    package mutating func append(literal: StaticString) {
        append(atMost: literal.utf8CodeUnitCount) { start in
            start.copyMemory(from: literal.utf8Start, byteCount: literal.utf8CodeUnitCount)
            return literal.utf8CodeUnitCount
        }
    }

    /// Writes the length of a frame that begins at `start`, with room for it.
    mutating func setFrameLength(_ length: Int, at start: Int = 0) {
        withUnsafeMutableBytes {
            $0.storeBytes(of: UInt32(clamping: length).bigEndian, toByteOffset: start, as: UInt32.self)
        }
    }
}
