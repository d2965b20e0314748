/// What a notification's name, an object, a label may be.
package enum NameRules {
    package enum Fault: Error, Hashable, Sendable {
        case empty
        case tooLong(count: Int, limit: Int)
        /// A control character, at this byte of the unescaped text.
        case control(UInt8, at: Int)
        /// A glob that ends with a lone backslash.
        case loneBackslash
    }

    /// Checks the bytes of a name after unescaping: 1 to 255 of them, and no control character.
    package static func check(name: UnsafeRawBufferPointer, limit: Int = 255) throws(Fault) {
        try check(byteCount: name.count, limit: limit)
        guard anyMarked(name, controlBytes) else { return }
        for (offset, byte) in name.enumerated() where byte < 0x20 || byte == 0x7F {
            throw .control(byte, at: offset)
        }
    }

    /// Checks the number of bytes of an observer's label, of a glob, or of what a client calls itself.
    package static func check(byteCount: Int, limit: Int = Limits.labelBytes) throws(Fault) {
        if byteCount == 0 { throw .empty }
        if byteCount > limit { throw .tooLong(count: byteCount, limit: limit) }
    }
}
