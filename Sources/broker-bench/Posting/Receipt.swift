/// The answer to a post, read where it lies.
struct Receipt {
    var id: UInt64
    var receivers: UInt64

    init(id: UInt64, receivers: UInt64) {
        self.id = id
        self.receivers = receivers
    }

    /// nil if it is written otherwise than the broker does it: that needs a decoder.
    init?(_ text: UnsafeRawBufferPointer) {
        var rest = Reader(text: text)
        guard rest.skip("{\"type\":\"ok\",\"id\":"), let id = rest.number(), rest.skip(",\"seq\":"),
            rest.number() != nil,
            rest.skip(",\"receivers\":"), let receivers = rest.number(), rest.skip("}"), rest.isAtEnd
        else { return nil }
        self.init(id: id, receivers: receivers)
    }

    private struct Reader {
        let text: UnsafeRawBufferPointer
        private var position = 0

        init(text: UnsafeRawBufferPointer) {
            self.text = text
        }

        var isAtEnd: Bool { position == text.count }

        @inline(__always)
        mutating func skip(_ literal: StaticString) -> Bool {
            let count = literal.utf8CodeUnitCount
            guard text.count - position >= count else { return false }
            for index in 0..<count where text[position + index] != literal.utf8Start[index] { return false }
            position += count
            return true
        }

        @inline(__always)
        mutating func number() -> UInt64? {
            let start = position
            var value: UInt64 = 0
            while position < text.count, position - start < 19, text[position] &- 0x30 < 10 {
                value = value * 10 + UInt64(text[position] &- 0x30)
                position += 1
            }
            return position > start ? value : nil
        }
    }
}
