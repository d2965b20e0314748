import TestSupport
import Testing
import WireProtocol

@Suite struct NameTests {
    @Test(arguments: [
        ("a", nil), ("", NameRules.Fault.empty), (String(repeating: "é", count: 127) + "x", nil),
        (String(repeating: "é", count: 128), .tooLong(count: 256, limit: 255)),
        ("a\u{1F}", .control(0x1F, at: 1)),
        ("é\u{0}", .control(0, at: 2)), ("\u{7F}", .control(0x7F, at: 0)), ("\u{80}\u{A0} *?\\", nil),
    ])
    func names(name: String, fault: NameRules.Fault?) {
        #expect(NameRules.fault(inName: name) == fault)
    }

    @Test func objects() {
        #expect(NameRules.fault(inObject: "") == nil)
        #expect(NameRules.fault(inObject: String(repeating: "\0", count: 1024)) == nil)
        #expect(
            NameRules.fault(inObject: String(repeating: "x", count: 1025))
                == .tooLong(count: 1025, limit: 1024))
    }

    @Test(arguments: [
        ("", NameRules.Fault.empty), ("a\\", .loneBackslash), ("\\\\\\", .loneBackslash), ("\\\\", nil),
        ("*", nil),
        (String(repeating: "*", count: 256), .tooLong(count: 256, limit: 255)),
    ])
    func globs(glob: String, fault: NameRules.Fault?) {
        #expect(NameRules.fault(inGlob: glob) == fault)
    }

    /// Matching by trying everything.
    private func matches(_ glob: ArraySlice<Unicode.Scalar>, _ name: ArraySlice<Unicode.Scalar>) -> Bool {
        guard let first = glob.first else { return name.isEmpty }
        let rest = glob.dropFirst()
        switch first {
        case "*":
            return matches(rest, name) || (!name.isEmpty && matches(glob, name.dropFirst()))
        case "?": return !name.isEmpty && matches(rest, name.dropFirst())
        case "\\": return rest.first == name.first && matches(rest.dropFirst(), name.dropFirst())
        default: return first == name.first && matches(rest, name.dropFirst())
        }
    }

    @Test(arguments: 1...30)
    func globsMatchAsTryingEverythingDoes(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let parts = ["a", "b", ".", "é", "€", "😀", "*", "*", "?", "\\*", "\\?", "\\\\", "\\a", "\\é"]
        let letters = ["a", "b", ".", "é", "€", "😀", "*", "?", "\\"]
        for _ in 0..<300 {
            let glob = (0...random.below(7)).map { _ in random.pick(parts) }.joined()
            let pattern = try NamePattern(Array(glob.utf8))
            for _ in 0..<20 {
                let name = (0..<random.below(8)).map { _ in random.pick(letters) }.joined()
                let found = Array(name.utf8).withUnsafeBytes { pattern.matches($0) }
                let wanted = matches(Array(glob.unicodeScalars)[...], Array(name.unicodeScalars)[...])
                try #require(found == wanted, "seed \(seed): \(glob) on \(name)")
                guard found else { continue }
                #expect(name.utf8.starts(with: pattern.prefix) && name.utf8.count >= pattern.suffix.count)
                #expect(Array(name.utf8.suffix(pattern.suffix.count)) == pattern.suffix)
            }
        }
    }

    @Test func manyStarsTakeNoTime() throws {
        let pattern = try NamePattern(Array(String(repeating: "*a", count: 127).utf8) + [0x62])
        let name = [UInt8](repeating: 0x61, count: 255)
        for _ in 0..<100 { #expect(!name.withUnsafeBytes { pattern.matches($0) }) }
    }

    @Test func literalEnds() throws {
        for (glob, prefix, suffix) in [
            ("a.b", "a.b", "a.b"), ("a*b", "a", "b"), ("*", "", ""), ("a\\*?", "a*", ""), ("?é", "", "é"),
        ] {
            let pattern = try #require(NamePattern(glob: glob))
            #expect(pattern.prefix == Array(prefix.utf8) && pattern.suffix == Array(suffix.utf8), "\(glob)")
        }
    }
}
