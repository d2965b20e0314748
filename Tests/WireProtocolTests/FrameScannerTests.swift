import TestSupport
import Testing

@testable import WireProtocol

/// Calls with the bytes in memory of exactly their size, so that a sanitizer sees each byte that is read too many, and
/// with other bytes behind them that would mislead a scanner that reads them.
private func withExactly<Result>(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let exact = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { exact.deallocate() }
    exact.copyBytes(from: bytes)
    let result = body(UnsafeRawBufferPointer(exact))
    return result
}

@Suite struct FrameScannerTests {
    private func found(_ scanner: FrameScanner, _ text: [UInt8]) -> JSONFault? {
        switch withExactly(text, { scanner.scan($0) }) {
        case .fault(let fault): fault
        case .frame, .plainPost, .plainPostAgain: nil
        }
    }

    private func fault(_ scanner: FrameScanner, _ text: [UInt8]) -> ReferenceJSON.Fault? {
        found(scanner, text).map { ReferenceJSON.Fault($0) }
    }

    private func reference(_ text: [UInt8], depth: Int = 128) -> ReferenceJSON.Fault? {
        do throws(ReferenceJSON.Fault) {
            _ = try ReferenceJSON(frame: text, depth: depth)
            return nil
        } catch {
            return error
        }
    }

    /// The scanner and the slow reference find the same first fault, at the same byte, or the same members.
    @Test(arguments: 1...24)
    func agreesWithTheReference(seed: UInt64) throws {
        var source = RandomJSON(seed: seed)
        let scanner = FrameScanner()
        for round in 0..<150 {
            let text = source.frame()
            try compare(scanner, text, "seed \(seed) round \(round)")
            for _ in 0..<4 { try compare(scanner, source.spoil(text), "seed \(seed) round \(round)") }
        }
    }

    private func compare(_ scanner: FrameScanner, _ text: [UInt8], _ place: String) throws {
        let found = fault(scanner, text)
        let wanted = reference(text)
        let shown = String(decoding: text, as: UTF8.self)
        try #require(found == wanted, "\(place): \(shown.debugDescription) \(text)")
        guard wanted == nil else { return }
        let known = Dictionary(
            uniqueKeysWithValues: MemberKey.allCases.map { (Array($0.text.description.utf8), $0) })
        let members = try ReferenceJSON(frame: text).members
        for member in members {
            guard let key = known[member.key] else { continue }
            try #require(scanner.span(key)?.range == member.value, "\(place): \(key) of \(shown)")
        }
        let keys = members.compactMap { known[$0.key] }
        #expect(scanner.presentKeys == keys.reduce(0) { $0 | 1 << UInt32($1.rawValue) }, "\(place)")
        #expect((scanner.firstUnknown == nil) == (keys.count == members.count), "\(place): \(shown)")
    }

    /// Each byte of a frame, replaced by each other byte.
    @Test func everyByteInEveryPlace() throws {
        let scanner = FrameScanner()
        let text = Array(
            #"{"type":"post", "id":10,"x":[true,{"k":-1.5e+3},"\ud83d\ude00é"],"name":"abcdefgh€"}"#.utf8)
        for place in text.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = text
                changed[place] = byte
                try compare(scanner, changed, "byte \(byte) at \(place)")
            }
        }
    }

    /// A text may end anywhere: nothing behind it is looked at.
    @Test func everyPrefix() throws {
        let scanner = FrameScanner()
        let text = Array(
            #" {"deliverImmediately":true,"n\u0061me":"\ud83d\ude00€","userInfo":{"a":[1.5e-3,{}]}} "#.utf8)
        for count in 0..<text.count - 2 {
            let prefix = Array(text.prefix(count))
            let found = fault(scanner, prefix)
            #expect(found == reference(prefix), "prefix of \(count)")
            #expect(found != nil, "prefix of \(count)")
        }
    }

    /// What ends a string, at each place relative to the eight bytes that are looked at together.
    @Test func stringsAroundEightBytes() throws {
        let scanner = FrameScanner()
        let specials: [[UInt8]] = [
            [], [0x00], [0x1F], [0x20], [0x21], [0x23], [0x5B], [0x5D], [0x7F], [0x80], [0xFF], [0xC3, 0xA9],
            [0xE2, 0x82, 0xAC], [0xF0, 0x9F, 0x98, 0x80], Array("\\n".utf8), Array("\\u00e9".utf8),
            Array("\\ud83d\\ude00".utf8), Array("\\x".utf8), [0x22], [0x5C],
        ]
        for lead in 0..<17 {
            for tail in [0, 1, 6, 7, 8, 9] {
                for special in specials {
                    let string = Array(
                        [
                            [0x22], [UInt8](repeating: 0x61, count: lead), special,
                            [UInt8](repeating: 0x62, count: tail), [0x22],
                        ]
                        .joined())
                    try compare(
                        scanner, Array("{\"x\":".utf8) + string + [0x7D], "\(lead) \(special) \(tail)")
                    try compare(
                        scanner, Array("{".utf8) + string + Array(":1}".utf8), "\(lead) \(special) \(tail)")
                }
            }
        }
    }

    @Test(arguments: [1, 2, 3, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257], [64, 128, 256])
    func nesting(levels: Int, limit: Int) {
        var random = SeededGenerator(seed: UInt64(levels))
        for _ in 0..<20 {
            var opening: [UInt8] = []
            var closing: [UInt8] = []
            for level in 0..<levels {
                let isObject = level == 0 || random.oneIn(2)
                opening += Array((isObject ? #"{"k":"# : "[").utf8)
                closing.insert(isObject ? 0x7D : 0x5D, at: 0)
            }
            let text = opening + [0x30] + closing
            let scanner = FrameScanner(depth: limit)
            #expect(fault(scanner, text) == reference(text, depth: limit), "\(levels) of \(limit)")
            #expect((fault(scanner, text) == nil) == (levels <= limit))
            // A bracket of the wrong kind, at any level.
            var wrong = text
            let place = opening.count + 1 + random.below(closing.count)
            wrong[place] = wrong[place] == 0x7D ? 0x5D : 0x7D
            #expect(fault(scanner, wrong) == reference(wrong, depth: limit), "\(levels) of \(limit)")
        }
    }

    @Test func siblingsAreNotDeep() {
        let many = #"{"x":["# + Array(repeating: "[{}]", count: 500).joined(separator: ",") + "]}"
        #expect(fault(FrameScanner(depth: 4), Array(many.utf8)) == nil)
        #expect(fault(FrameScanner(depth: 3), Array(many.utf8))?.kind == .tooDeep)
    }

    @Test func manyUnknownMembersAreToldApart() throws {
        let scanner = FrameScanner()
        let members = (0..<300).map { "\"k\($0)\":0" }
        #expect(fault(scanner, Array("{\(members.joined(separator: ","))}".utf8)) == nil)
        #expect(scanner.firstUnknown == 2..<4)
        for double in [0, 1, 31, 32, 33, 299] {
            let text = Array("{\((members + ["\"\\u006b\(double)\":1"]).joined(separator: ","))}".utf8)
            #expect(fault(scanner, text)?.kind == .duplicate, "\(double)")
        }
        #expect(fault(scanner, Array("{\"type\":1}".utf8)) == nil)
        #expect(scanner.firstUnknown == nil)
    }

    @Test func spansTellKindAndPlace() throws {
        let text =
            #"{"type":"p\n","id":-1,"name":"","object":null,"retain":true,"detail":false,"userInfo":{},"features":[1]}"#
        let scanner = FrameScanner()
        #expect(fault(scanner, Array(text.utf8)) == nil)
        let kinds: [(MemberKey, FieldSpan.Kind)] = [
            (.type, .escapedString), (.id, .number), (.name, .string), (.object, .null), (.retain, .yes),
            (.detail, .no), (.userInfo, .object), (.features, .array),
        ]
        for (key, kind) in kinds { #expect(scanner.span(key)?.kind == kind) }
        #expect(scanner[.object] == nil && scanner.span(.count) == nil)
        #expect(scanner.span(.name)?.content.isEmpty == true)
        let type = try #require(scanner.span(.type))
        #expect(Array(text.utf8)[type.content] == Array("p\\n".utf8)[...])
    }

    @Test(arguments: [
        (#"{"type":"post","name":"N"}"#, #""N" - - -"#),
        (#"{"name":"\u0041","type":"post","id":1,"userInfo":{}}"#, #""\u0041" - {} 1"#),
        (#"{"type":"post","name":"N","object":null,"userInfo":null,"id":null}"#, #""N" - - -"#),
        (#"{"type":"post","name":"N","object":"o","id":0}"#, #""N" "o" - 0"#),
        (#"{"type":"post","name":"","object":"","id":9007199254740991}"#, #""" "" - 9007199254740991"#),
        (#"{"type":"post","name":"N","id":9007199254740992}"#, nil),
        (#"{"type":"post","name":"N","id":1.0}"#, nil),
        (#"{"type":"post","name":"N","id":"1"}"#, nil), (#"{"type":"post","name":"N","object":1}"#, nil),
        (#"{"type":"post","name":"N","userInfo":[]}"#, nil), (#"{"type":"post","name":null}"#, nil),
        (#"{"type":"post"}"#, nil), (#"{"type":"pos","name":"N"}"#, nil),
        (#"{"type":"ping","name":"N"}"#, nil),
        (#"{"type":["post"],"name":"N"}"#, nil), (#"{"type":"\u0070ost","name":"N"}"#, nil),
        (#"{"type":"post","name":"N","retain":false}"#, nil), (#"{"type":"post","name":"N","x":1}"#, nil),
        (#"{"name":"N"}"#, nil), (#"{"type":"post","name":"N","seq":1}"#, nil),
    ])
    func usualPosts(text: String, parts: String?) {
        let scanner = FrameScanner()
        // What was found in a frame before makes no difference.
        #expect(
            found(scanner, Array(#"{"type":"post","name":"x","id":7,"object":"x","userInfo":{},"x":1}"#.utf8))
                == nil)
        withExactly(Array(text.utf8)) { bytes in
            guard case .plainPost = scanner.scan(bytes) else {
                #expect(parts == nil)
                return
            }
            let post = scanner.post.pointee
            func value(_ span: FieldSpan) -> String {
                span.count == 0 ? "-" : String(decoding: bytes[span.range], as: UTF8.self)
            }
            let id = post.id == PlainPost.noID ? "-" : "\(post.id)"
            #expect(parts == "\(value(post.name)) \(value(post.object)) \(value(post.userInfo)) \(id)")
        }
    }

    @Test func everyKeyIsSpelt() {
        for key in MemberKey.allCases {
            let name = Array(key.text.description.utf8)
            // At a text's very end, and with more behind it.
            for extra in 0..<10 {
                let found = withExactly(name + [UInt8](repeating: 0x22, count: extra)) { bytes in
                    bytes.withMemoryRebound(to: UInt8.self) { bytes in
                        bytes.baseAddress.flatMap {
                            let key = MemberKey.spelt($0, count: name.count, readable: bytes.count)
                            #expect(MemberKey.usual($0, count: name.count, readable: bytes.count) == key)
                            return key
                        }
                    }
                }
                #expect(found == key)
            }
            for place in name.indices {
                var other = name
                other[place] ^= 0x20
                #expect(spelt(other) == nil, "\(String(decoding: other, as: UTF8.self))")
            }
            #expect(spelt(name + [0x73]).map { $0.text.description == key.text.description + "s" } ?? true)
        }
        for count in 0..<40 { #expect(spelt([UInt8](repeating: 0x61, count: count)) == nil) }
    }

    private func spelt(_ name: [UInt8]) -> MemberKey? {
        let scanner = FrameScanner()
        let text = Array("{\"".utf8) + name + Array("\":1}".utf8)
        guard fault(scanner, text) == nil else { return nil }
        return MemberKey.allCases.first { scanner.span($0) != nil }
    }

    @Test(arguments: [
        ("", ErrorCode.invalidJSON, "byte 0"), ("\u{FEFF}{}", .invalidJSON, "byte 0"),
        ("[]", .notAnObject, "object"), ("{} x", .invalidJSON, "byte 3"), ("1", .notAnObject, "object"),
        ("[1,]", .invalidJSON, "byte 3"), (#"{"a":"\ud800"}"#, .invalidJSON, "byte 6"),
        (#"{"a":1,"a":"#, .duplicateMember, "byte 7"), (#"{"a":tru}"#, .invalidJSON, "byte 8"),
    ])
    func faultsAreTold(text: String, code: ErrorCode, place: String) throws {
        let scanner = FrameScanner()
        let fault = try #require(found(scanner, Array(text.utf8)))
        let error = fault.protocolError(depth: 128)
        #expect(error.code == code)
        #expect(error.message.contains(place), "\(error.message)")
    }
}
