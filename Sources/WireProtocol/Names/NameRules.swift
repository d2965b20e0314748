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
        if !hasControl(name) { return }
        for (offset, byte) in name.enumerated() where byte < 0x20 || byte == 0x7F {
            throw .control(byte, at: offset)
        }
    }

    /// Whether there may be a control character; eight bytes at a time.
    private static func hasControl(_ name: UnsafeRawBufferPointer) -> Bool {
        let low: UInt64 = 0x0101_0101_0101_0101
        var index = 0
        var found: UInt64 = 0
        while index &+ 8 <= name.count {
            let word = name.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let delete = word ^ (low &* 0x7F)
            found |= ((word &- low &* 0x20) & ~word) | ((delete &- low) & ~delete)
            index &+= 8
        }
        if found & (low &* 0x80) != 0 { return true }
        while index < name.count {
            if name[index] < 0x20 || name[index] == 0x7F { return true }
            index &+= 1
        }
        return false
    }

    /// Checks the number of bytes of an observer's label, of a glob, or of what a client calls itself.
    package static func check(byteCount: Int, limit: Int = Limits.labelBytes) throws(Fault) {
        if byteCount == 0 { throw .empty }
        if byteCount > limit { throw .tooLong(count: byteCount, limit: limit) }
    }
}
