import CommandLineSupport
import TestSupport
import Testing

@Suite struct LineBufferTests {
    private func lines(of text: [UInt8], in chunks: some Sequence<Int>) -> [[UInt8]] {
        var buffer = LineBuffer()
        var lines: [[UInt8]] = []
        var rest = text[...]
        for count in chunks where !rest.isEmpty {
            buffer.append(rest.prefix(count))
            rest = rest.dropFirst(count)
            while let line = buffer.next() { lines.append(line) }
        }
        buffer.append(rest)
        buffer.end()
        while let line = buffer.next() { lines.append(line) }
        #expect(buffer.next() == nil)
        #expect(buffer.unfinishedCount == 0)
        return lines
    }

    @Test(
        arguments: [
            ("", []), ("\n", [""]), ("a", ["a"]), ("a\n", ["a"]), ("\n\na", ["", "", "a"]),
            ("a\r\nb\rc", ["a\r", "b\rc"]),
            ("\0a\0\n\0", ["\0a\0", "\0"]), ("a\n\n", ["a", ""]),
        ] as [(String, [String])])
    func everyLineOnce(text: String, expected: [String]) {
        for size in 1...4 {
            let found = lines(of: Array(text.utf8), in: repeatElement(size, count: 20))
            #expect(found == expected.map { Array($0.utf8) }, "in chunks of \(size)")
        }
    }

    @Test func anyChunkingGivesTheSameLines() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let text: [UInt8] = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                [0x0A, 0x0D, 0, 0x61, 0xFF].randomElement(using: &random) ?? 0
            }
            let chunks = (0..<50).map { _ in Int.random(in: 0...20, using: &random) }
            let pieces = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            var expected = pieces.map { Array($0) }
            if expected.last == [] { expected.removeLast() }
            #expect(lines(of: text, in: chunks) == expected, "seed \(seed)")
        }
    }

    @Test func aLineThatHasNotEndedIsCounted() {
        var buffer = LineBuffer()
        buffer.append(Array("one\ntwo".utf8)[...])
        #expect(buffer.next() == Array("one".utf8))
        #expect(buffer.next() == nil)
        #expect(buffer.unfinishedCount == 3)
    }
}
