import TestSupport
import Testing

@testable import WireProtocol

@Suite struct JSONTextTests {
    private func quoted(_ text: [UInt8]) -> [UInt8] {
        var json: [UInt8] = []
        JSONString.append(text, quotedTo: &json)
        return json
    }

    private func unescaped(_ raw: [UInt8]) -> [UInt8] { raw.withUnsafeBytes { JSONString.unescaped($0) } }

    @Test(arguments: 1...20)
    func aTextComesBackFromItsQuotes(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let scalars = (0..<random.below(20)).map { _ in
                let limit = random.pick([0x20, 0x80, 0x800, 0x11_0000])
                return Unicode.Scalar(UInt32(random.below(limit))) ?? "\\"
            }
            let text = String(String.UnicodeScalarView(scalars))
            let json = quoted(Array(text.utf8))
            #expect(json.withUnsafeBytes { JSONText.fault(in: $0) } == nil, "seed \(seed)")
            #expect(unescaped(Array(json.dropFirst().dropLast())) == Array(text.utf8), "seed \(seed)")
            #expect(try JSONValue(parsing: json).text == text, "seed \(seed)")
        }
    }

    @Test func onlyWhatMustBeIsEscaped() {
        let text = (0..<0x80).map { UInt8($0) } + Array("é/".utf8)
        let controls = (0..<0x20).map { code in
            let hex = String(code, radix: 16)
            return [9: "\\t", 10: "\\n", 13: "\\r"][code]
                ?? "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
        }
        let others = (0x20..<0x80).map { code in
            code == 0x22 ? "\\\"" : code == 0x5C ? "\\\\" : String(UnicodeScalar(UInt8(code)))
        }
        #expect(quoted(text) == Array("\"\((controls + others).joined())é/\"".utf8))
    }

    @Test(arguments: [
        (#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{C}\n\r\t"), (#"\u0041\u00e9\u20AC"#, "Aé€"),
        (#"\ud83d\ude00\uD83D\uDE00"#, "😀😀"), (#"\u0000x"#, "\0x"), ("", ""), ("plain é", "plain é"),
    ])
    func escapesAreUndone(raw: String, text: String) {
        #expect(unescaped(Array(raw.utf8)) == Array(text.utf8))
    }

    /// Unescaping is for checked text; on any other it makes something, but doesn't trap.
    @Test func uncheckedTextDoesNotTrap() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<5000 {
            let raw = (0..<random.below(14)).map { _ in
                random.pick(Array(#"\\\\uudD8cCeE019n"#.utf8) + [0xFF, 0xC3])
            }
            _ = unescaped(raw)
        }
    }

    @Test func numbersAreWrittenAndRead() {
        var values: [UInt64] = [0, .max, .max - 1]
        var power: UInt64 = 1
        for _ in 0..<19 {
            power *= 10
            values += [power - 1, power, power + 1]
        }
        for value in values {
            var json: [UInt8] = [0x78]
            JSONNumber.append(value, to: &json)
            #expect(json == Array("x\(value)".utf8))
            #expect(json.dropFirst().withUnsafeBytes { JSONNumber.unsigned($0) } == value)
        }
    }

    @Test(arguments: [
        "", "00", "01", "-0", "-1", "1.0", "1e0", "+1", " 1", "1 ", "18446744073709551616",
        "99999999999999999999",
        "184467440737095516150", "a", "1a",
    ])
    func whatIsNoSuchNumber(text: String) {
        #expect(Array(text.utf8).withUnsafeBytes { JSONNumber.unsigned($0) } == nil)
    }

    @Test func membersAreWalkedInOrder() {
        let text = Array(#" {"a" : 1,"\u0062":[2,{}] , "c":"x\n","a":null} "#.utf8)
        text.withUnsafeBytes { bytes in
            var members = JSONMembers(bytes, at: 0..<bytes.count)
            var found: [String] = []
            while let member = members.next() {
                let key = String(decoding: bytes[member.key], as: UTF8.self)
                let value = String(decoding: bytes[member.value.range], as: UTF8.self)
                found.append("\(key)=\(value)")
                #expect(member.keyIsEscaped == key.contains("\\"))
            }
            #expect(found == ["a=1", "\\u0062=[2,{}]", "c=\"x\\n\"", "a=null"])
            var elements = JSONMembers(bytes, at: 19..<25)
            #expect(elements.next()?.value.kind == .number)
            #expect(elements.next()?.value.range == 22..<24)
            #expect(elements.next() == nil && elements.next() == nil)
        }
    }

    @Test func walkingUncheckedTextEnds() {
        var source = RandomJSON(seed: 3)
        for _ in 0..<3000 {
            let text = source.spoil(source.frame())
            text.withUnsafeBytes { bytes in
                var members = JSONMembers(bytes, at: 0..<bytes.count)
                var count = 0
                while members.next() != nil { count += 1 }
                #expect(count <= text.count)
            }
        }
    }
}
