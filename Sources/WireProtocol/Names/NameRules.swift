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
        try check(label: name, limit: limit)
        for (offset, byte) in name.enumerated() where byte < 0x20 || byte == 0x7F {
            throw .control(byte, at: offset)
        }
    }

    /// Checks the bytes of an observer's label or a client's name for their number only.
    package static func check(label: UnsafeRawBufferPointer, limit: Int = Limits.labelBytes) throws(Fault) {
        if label.isEmpty { throw .empty }
        if label.count > limit { throw .tooLong(count: label.count, limit: limit) }
    }
}
