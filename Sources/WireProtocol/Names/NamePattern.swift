/// A glob over whole names: `*` any run of characters, `?` one character, `\` takes the next character literally.
///
/// It is kept as tokens, and matched with the one-step backtracking that a pattern of stars allows: the time is at most
/// the product of the two lengths, whatever the pattern.
package struct NamePattern: Hashable, Sendable {
    private enum Token: Hashable, Sendable {
        case byte(UInt8)
        /// One Unicode scalar value.
        case any
        case run
    }

    private let tokens: [Token]
    /// The literal bytes that every match begins with, and that it ends with.
    package let prefix: [UInt8]
    package let suffix: [UInt8]
    /// Whether nothing but one `*` stands between the two.
    package let isOneRun: Bool

    /// Takes the bytes of a glob after unescaping, which are UTF-8.
    package init(_ pattern: [UInt8]) throws(NameRules.Fault) {
        try NameRules.check(byteCount: pattern.count, limit: Limits.patternBytes)
        var tokens: [Token] = []
        var index = 0
        while index < pattern.count {
            switch pattern[index] {
            case 0x2A:
                if tokens.last != .run { tokens.append(.run) }
            case 0x3F: tokens.append(.any)
            case 0x5C:
                index += 1
                guard index < pattern.count else { throw .loneBackslash }
                tokens.append(.byte(pattern[index]))
            case let byte: tokens.append(.byte(byte))
            }
            index += 1
        }
        self.tokens = tokens
        prefix = Self.literals(tokens)
        suffix = Self.literals(tokens.reversed()).reversed()
        isOneRun = tokens.count == prefix.count + suffix.count + 1 && tokens[prefix.count] == .run
    }

    private static func literals(_ tokens: some Sequence<Token>) -> [UInt8] {
        var bytes: [UInt8] = []
        for token in tokens {
            guard case .byte(let byte) = token else { break }
            bytes.append(byte)
        }
        return bytes
    }

    /// Whether the pattern matches the whole name, given as UTF-8.
    package func matches(_ name: UnsafeRawBufferPointer) -> Bool {
        guard name.count >= prefix.count, isEqual(name[..<prefix.count], prefix) else { return false }
        if isOneRun {
            let end = name.count - suffix.count
            return end >= prefix.count && isEqual(name[end...], suffix)
        }
        var token = prefix.count
        var position = prefix.count
        var resumeToken = -1
        var resumePosition = 0
        while position < name.count {
            if token < tokens.count {
                switch tokens[token] {
                case .run:
                    resumeToken = token + 1
                    resumePosition = position
                    token += 1
                    continue
                case .any:
                    position = Self.scalarEnd(name, from: position)
                    token += 1
                    continue
                case .byte(let byte) where byte == name[position]:
                    position += 1
                    token += 1
                    continue
                case .byte: break
                }
            }
            guard resumeToken >= 0 else { return false }
            resumePosition = Self.scalarEnd(name, from: resumePosition)
            position = resumePosition
            token = resumeToken
        }
        while token < tokens.count, tokens[token] == .run { token += 1 }
        return token == tokens.count
    }

    @inline(always)
    private func isEqual(_ part: Slice<UnsafeRawBufferPointer>, _ literal: [UInt8]) -> Bool {
        literal.withUnsafeBytes { equalBytes(UnsafeRawBufferPointer(rebasing: part), $0) }
    }

    private static func scalarEnd(_ name: UnsafeRawBufferPointer, from position: Int) -> Int {
        var end = position + 1
        while end < name.count, name[end] & 0xC0 == 0x80 { end += 1 }
        return end
    }
}
