import TestSupport
import Testing

@testable import WireProtocol

/// A scanner that has seen posts before finds in the next one what a scanner finds that has not.
@Suite struct RepeatedHeadTests {
    /// What a post says of itself, or why it is none.
    private enum Found: Equatable, CustomStringConvertible {
        case post(name: String, object: String, userInfo: String, id: UInt64)
        case other
        case fault(String)

        var description: String {
            switch self {
            case .post(let name, let object, let userInfo, let id):
                "post \(name) \(object) \(userInfo) \(id == PlainPost.noID ? "-" : "\(id)")"
            case .other: "other"
            case .fault(let text): text
            }
        }
    }

    private func find(_ scanner: FrameScanner, _ text: String) -> (found: Found, isAgain: Bool) {
        Array(text.utf8).withUnsafeBytes { bytes in
            func part(_ span: FieldSpan) -> String { String(decoding: bytes[span.range], as: UTF8.self) }
            let finding = scanner.scan(bytes)
            switch finding {
            case .fault(let fault): return (.fault("\(fault)"), false)
            case .frame: return (.other, false)
            case .plainPost, .plainPostAgain:
                let post = scanner.post.pointee
                var isAgain = false
                if case .plainPostAgain = finding { isAgain = true }
                return (
                    .post(
                        name: part(post.name), object: part(post.object), userInfo: part(post.userInfo),
                        id: post.id), isAgain
                )
            }
        }
    }

    private func frame(_ random: inout SeededGenerator) -> String {
        var members = [#""type":"post""#, #""name":"# + name(&random)]
        if random.oneIn(2) { members.append(#""id":"# + id(&random)) }
        if random.oneIn(3) {
            members.append(#""object":"# + random.pick([#""o""#, #""ob\n""#, "null", "1"]))
        }
        if random.oneIn(4) { members.swapAt(random.below(members.count), random.below(members.count)) }
        if !random.oneIn(12) {
            members.insert(
                #""userInfo":"# + userInfo(&random),
                at: random.oneIn(12) ? random.below(members.count) : members.count)
        }
        let text = "{" + members.joined(separator: random.oneIn(20) ? " , " : ",") + "}"
        if random.oneIn(30) { return String(text.dropLast(random.below(12))) }
        return random.oneIn(30) ? text + random.pick([" ", "x", "}"]) : text
    }

    /// Mostly strings, and every way of failing to be an object of strings.
    private func userInfo(_ random: inout SeededGenerator) -> String {
        if random.oneIn(3) {
            return random.pick([#"{"a":1}"#, "{}", #"{"data":"hello"}"#, "{1}", "null", "{"])
        }
        var text = "{"
        for index in 0...random.below(4) {
            let key = random.pick(["", "a", "data", "a key of some length", "é", #"\""#])
            let value = random.pick([
                "", "b", "hello world", #"\n"#, "é", "\u{1}", String(repeating: "x", count: 90),
            ])
            text += (index == 0 ? "" : ",") + "\"\(key)\":\"\(value)\""
        }
        text += "}"
        guard random.oneIn(4) else { return text }
        // One byte more or less, or another one.
        let place = text.index(text.startIndex, offsetBy: random.below(text.count))
        let end = random.oneIn(2) ? text.index(after: place) : place
        text.replaceSubrange(
            place..<end, with: random.pick(["", " ", "\"", ",", ":", "}", "{", "[", "1", "\\"]))
        return text
    }

    private func name(_ random: inout SeededGenerator) -> String {
        random.oneIn(2)
            ? #""N""#
            : random.pick([
                #""M""#, #""LongerName""#, #""OtherNames""#, #""Long\nName""#, #""Longe","xy""#,
                #""é2345678""#,
                "\"Longer\u{1}ame\"", #""""#, #""é""#, #""e\u0301""#, "1", #""never ended"#,
                "\"" + String(repeating: "n", count: 250) + "\"",
            ])
    }

    private func id(_ random: inout SeededGenerator) -> String {
        random.pick([
            "0", "7", "10", "07", "00", "-1", "1.5", "1e2", "null", #""1""#, "", "\(Limits.greatestID)",
            "\(Limits.greatestID + 1)", String(repeating: "9", count: 18), String(repeating: "9", count: 40),
            "\(random.below(100_000))",
        ])
    }

    @Test(arguments: 1...20)
    func findsWhatAnInnocentScannerFinds(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let scanner = FrameScanner()
        var last: Found?
        var again = 0
        var text = frame(&random)
        for round in 0..<4000 {
            if !random.oneIn(3) { text = frame(&random) }
            let (found, isAgain) = find(scanner, text)
            try #require(found == find(FrameScanner(), text).found, "seed \(seed) round \(round): \(text)")
            if isAgain {
                again += 1
                guard case .post(let name, let object, _, _) = found,
                    case .post(let lastName, let lastObject, _, _) = last
                else {
                    Issue.record("seed \(seed) round \(round): a post again, but none before: \(text)")
                    return
                }
                try #require(name == lastName && object == lastObject, "seed \(seed) round \(round): \(text)")
            }
            last = found
        }
        #expect(again > 100, "seed \(seed)")
    }

    /// One byte less, more, or another one, anywhere.
    @Test func everySingleFaultOfAnObjectOfStrings() {
        let good = #"{"type":"post","name":"N","userInfo":{"a":"b","key":"value of some length"}}"#
        let bytes = Array(good.utf8)
        for place in bytes.indices {
            for replacement in [""] + [" ", "\"", ",", ":", "{", "}", "[", "\\", "1", "\u{1}"] {
                for end in place...place + 1 {
                    let text = String(
                        decoding: bytes[..<place] + Array(replacement.utf8) + bytes[end...], as: UTF8.self)
                    let scanner = FrameScanner()
                    _ = find(scanner, good)
                    #expect(find(scanner, text).found == find(FrameScanner(), text).found, "\(text)")
                }
            }
        }
    }

    @Test func anIdAndANameOfAnotherLengthMoveWhatFollows() {
        let scanner = FrameScanner()
        func frame(_ id: Int, _ name: String) -> String {
            #"{"type":"post","id":\#(id),"name":"\#(name)","object":"o","userInfo":{"n":\#(id)}}"#
        }
        var last = ""
        for (id, name) in [(9, "a"), (10, "a"), (11, "ab"), (8, "ab"), (100, "b"), (101, "b")] {
            let (found, isAgain) = find(scanner, frame(id, name))
            #expect(
                found
                    == .post(name: "\"\(name)\"", object: "\"o\"", userInfo: "{\"n\":\(id)}", id: UInt64(id)))
            #expect(isAgain == (name == last), "\(id) \(name)")
            last = name
        }
    }
}
