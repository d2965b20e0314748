import CommandLineSupport
import Testing

@Suite struct RecordWriterTests {
    private func record(
        _ format: RecordFormat, _ value: ShownValue, frame: String = "{}", nul: Bool = false,
        terminal: Bool = false
    ) -> String {
        var output: [UInt8] = []
        RecordWriter(format: format, endsWithNul: nul, isTerminal: terminal)
            .append(value, frame: Array(frame.utf8)[...], to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    private func text(_ text: String) -> ShownValue { .text(Array(text.utf8)) }
    private func json(_ text: String) -> ShownValue { .json(Array(text.utf8)) }

    @Test func eachFormat() {
        let frame = #"{"type":"notification","userInfo":{"data":"x"}}"#
        #expect(record(.label, text("x"), frame: frame) == "Received data: x\n")
        #expect(record(.data, text("x"), frame: frame) == "x\n")
        #expect(record(.json, text("x"), frame: frame) == frame + "\n")
        #expect(record(.data, json("[1.0,true]")) == "[1.0,true]\n")
        #expect(record(.label, .none) == "Received data: \n")
    }

    @Test func recordsCanEndWithNul() {
        #expect(record(.label, text("a\nb"), nul: true) == "Received data: a\nb\0")
        #expect(record(.data, text(""), nul: true) == "\0")
        #expect(record(.json, .none, frame: "{\n}", nul: true) == "{ }\0")
    }

    @Test func whiteSpaceThatBreaksAJSONLineBecomesSpaces() {
        let frame = "{\r\n \"a\\n\":\t1.50,\n\"b\":[1e400,\"\u{85}\u{2028}\"]}"
        let folded = "{   \"a\\n\":\t1.50, \"b\":[1e400,\"\u{85}\u{2028}\"]}"
        #expect(record(.json, .none, frame: frame) == folded + "\n")
        #expect(record(.data, json("[1,\n2]")) == "[1, 2]\n")
    }

    @Test func elsewhereThanOnATerminalTextIsAsItIs() {
        let wild = "\u{1B}[31mred\u{7}\u{7F}\u{9B}2J\u{202E}\r\ntab\t"
        #expect(record(.label, text(wild)) == "Received data: \(wild)\n")
    }

    @Test func aTerminalGetsControlCharactersEscaped() {
        #expect(
            record(.data, text("\u{1B}[31mred\u{7}\u{7F}\u{9B}2J\u{8}😀é"), terminal: true)
                == "\\u{1B}[31mred\\u{7}\\u{7F}\\u{9B}2J\\u{8}😀é\n")
        #expect(
            record(.label, text("a\nReceived data: b\r\t"), terminal: true)
                == "Received data: a\\u{A}Received data: b\\u{D}\\u{9}\n")
        #expect(
            record(.json, .none, frame: "{\t\"a\":\n\"\u{9B}\u{7F}\\u001b\u{202E}\"}", terminal: true)
                == "{ \"a\": \"\\u009b\\u007f\\u001b\\u202e\"}\n")
        #expect(record(.label, json("[\"\u{85}\"]"), terminal: true) == "Received data: [\"\\u0085\"]\n")
        #expect(record(.data, text("a"), nul: true, terminal: true) == "a\0")
    }

    @Test func exactlyTheControlCharactersAreEscaped() throws {
        for value in (0...0x3000 as ClosedRange<UInt32>) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isControl = scalar.properties.generalCategory == .control || scalar.properties.isBidiControl
            var output: [UInt8] = []
            ControlCharacters.escape(Array("é\(scalar)z".utf8)[...], as: .braces, to: &output)
            let shown = isControl ? "\\u{\(String(value, radix: 16, uppercase: true))}" : String(scalar)
            #expect(output == Array("é\(shown)z".utf8), "U+\(String(value, radix: 16))")
        }
    }

    @Test func bytesCutInTheMiddleOfACharacterPass() {
        for cut in [[0xC2], [0xE2, 0x80], [0xE2], [0xD8]] as [[UInt8]] {
            var output: [UInt8] = []
            ControlCharacters.escape(cut[...], as: .braces, to: &output)
            #expect(output == cut)
        }
    }

    @Test func aMessageIsOneLine() {
        #expect(
            messageLine("tool", Array("no broker at 'a\n\u{1B}[2Jtool: forged'".utf8))
                == Array("tool: no broker at 'a\\u{A}\\u{1B}[2Jtool: forged'\n".utf8))
    }

    @Test(arguments: ["", "name", String(repeating: "é", count: 50), String(repeating: "é", count: 51)])
    func aValueIsQuotedTheSameInBytes(value: String) {
        var message = Array("not ".utf8)
        Failure.append(quoted: value, to: &message)
        #expect(String(decoding: message, as: UTF8.self) == "not " + Failure.quoted(value.utf8))
        #expect(message.count <= 4 + 300)
    }

    @Test func aLongValueIsCut() {
        let value = String(repeating: "é", count: 101)
        #expect(Failure.quoted(value.utf8) == "'\(value.dropLast())...' (202 bytes)")
    }

    @Test func readyAndGapsDependOnTheFormat() {
        for format in RecordFormat.allCases {
            let writer = RecordWriter(format: format, endsWithNul: true, isTerminal: false)
            var output: [UInt8] = []
            writer.appendReady(to: &output)
            #expect(output == (format == .label ? Array("NO DATA\0".utf8) : []))
            output = []
            writer.append(otherFrame: Array("{\"type\":\"gap\"}".utf8)[...], to: &output)
            #expect(output == (format == .json ? Array("{\"type\":\"gap\"}\0".utf8) : []))
        }
    }
}
