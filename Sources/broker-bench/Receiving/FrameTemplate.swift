import WireProtocol

/// How the notifications of one sender look behind their `seq` and `time`: all the same but for the digits of stamp and name.
///
/// Learned from one that was decoded and checked member by member. That another one's bytes equal it, with the digits that its
/// number asks for, then proves as much as decoding it would.
struct FrameTemplate {
    private let rest: [UInt8]
    private let stampOffset: Int
    private let nameOffset: Int?

    /// nil where a frame does not lie as expected: others are then decoded, too.
    init?(rest: UnsafeRawBufferPointer, stampOffset: Int, name: String, plan: Plan) {
        self.rest = Array(rest)
        self.stampOffset = stampOffset
        switch plan.naming {
        case .single: nameOffset = nil
        case .rotating: nameOffset = Self.end(of: name, in: self.rest).map { $0 - Digits.width }
        case .fresh: nameOffset = Self.end(of: name, in: self.rest).map { $0 - Stamp.width }
        }
        if nameOffset == nil, !name.utf8.elementsEqual(plan.subject.utf8) { return nil }
    }

    private static func end(of name: String, in rest: [UInt8]) -> Int? {
        let text = Array("\"name\":\"\(name)\"".utf8)
        guard rest.count >= text.count else { return nil }
        let start = (0...(rest.count - text.count)).first { rest[$0..<($0 + text.count)].elementsEqual(text) }
        return start.map { $0 + text.count - 1 }
    }

    @inline(__always)
    func matches(_ bytes: UnsafeRawBufferPointer, _ stamp: Stamp, _ plan: Plan) -> Bool {
        guard bytes.count == rest.count, let start = bytes.baseAddress else { return false }
        return rest.withUnsafeBytes { rest in
            guard let own = rest.baseAddress else { return false }
            var position = 0
            if let nameOffset {
                guard Self.equal(start, own, nameOffset) else { return false }
                let digits = start + nameOffset
                switch plan.naming {
                case .single: return false
                case .rotating(let names):
                    let name = digits.loadUnaligned(as: UInt64.self).littleEndian
                    guard Digits.number(loaded: name) == stamp.number % names else { return false }
                    position = nameOffset + Digits.width
                case .fresh:
                    guard Self.equal(digits, start + stampOffset, Stamp.width) else { return false }
                    position = nameOffset + Stamp.width
                }
            }
            let end = stampOffset + Stamp.width
            return Self.equal(start + position, own + position, stampOffset - position)
                && Self.equal(start + end, own + end, rest.count - end)
        }
    }

    // SAFETY: both have `count` bytes; the last step of a longer run may overlap the one before.
    @inline(__always)
    private static func equal(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Bool {
        if count < 8 {
            for index in 0..<max(count, 0) {
                let (one, other) = (
                    left.load(fromByteOffset: index, as: UInt8.self),
                    right.load(fromByteOffset: index, as: UInt8.self)
                )
                if one != other { return false }
            }
            return count >= 0
        }
        var index = 0
        var wide = SIMD4<UInt64>()
        while index &+ 32 <= count {
            wide |= four(left, index) ^ four(right, index)
            index &+= 32
        }
        var difference = wide[0] | wide[1] | wide[2] | wide[3]
        while index &+ 8 <= count {
            difference |= word(left, index) ^ word(right, index)
            index &+= 8
        }
        return difference | (word(left, count &- 8) ^ word(right, count &- 8)) == 0
    }

    @inline(__always)
    private static func four(_ bytes: UnsafeRawPointer, _ offset: Int) -> SIMD4<UInt64> {
        bytes.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self)
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawPointer, _ offset: Int) -> UInt64 {
        bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }
}
