import TestSupport
import Testing
import WireProtocol

@Suite struct NotificationEncoderTests {
    private static let poster = NotificationEncoder.Sender(connection: 3, pid: 12, uid: 1000, gid: 100)

    /// The whole frame, checked to be as long as it says; its JSON.
    private func frame(
        _ encoder: NotificationEncoder, _ name: String, object: String? = nil, userInfo: String? = nil,
        immediately: Bool = false
    ) -> String {
        let bound = NotificationEncoder.overhead + name.utf8.count + (object ?? "").utf8.count
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bound, alignment: 1)
        defer { memory.deallocate() }
        guard let start = memory.baseAddress else { return "" }
        // The parts lie in one text, as in a post.
        let text = [name, object ?? "", userInfo ?? ""].joined(separator: " ")
        func span(_ start: Int, _ part: String?) -> FieldSpan {
            guard let part else { return .none }
            var span = FieldSpan.none
            (span.start, span.end) = (UInt32(start), UInt32(start + part.utf8.count))
            return span
        }
        let objectStart = name.utf8.count + 1
        let userInfoStart = objectStart + (object ?? "").utf8.count + 1
        let front = Array(text.utf8).withUnsafeBytes { text in
            text.baseAddress.map {
                encoder.encodeFront(
                    NotificationEncoder.Parts(
                        text: $0, name: span(0, name), object: span(objectStart, object),
                        userInfo: span(userInfoStart, userInfo), deliverImmediately: immediately),
                    to: start)
            } ?? 0
        }
        #expect(front < bound)
        return checked([UInt8](memory[..<front]) + Array("\(userInfo ?? "")}".utf8))
    }

    private func checked(_ frame: [UInt8]) -> String {
        let length = frame.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        #expect(length == frame.count - 4)
        return String(decoding: frame.dropFirst(4), as: UTF8.self)
    }

    private func wanted(_ seq: UInt64, _ time: UInt64, _ sender: NotificationEncoder.Sender, _ rest: String)
        -> String
    {
        #"{"type":"notification","seq":\#(seq),"time":\#(time),"sender":{"connection":\#(sender.connection),"#
            + #""pid":\#(sender.pid),"uid":\#(sender.uid),"gid":\#(sender.gid)},\#(rest)}"#
    }

    @Test func allMembersInTheirOrder() {
        let encoder = NotificationEncoder()
        #expect(encoder.seq == 0)
        _ = encoder.advance(time: 99, sender: Self.poster)
        let sender = Self.poster
        #expect(frame(encoder, #""N""#) == wanted(1, 99, sender, #""name":"N""#))
        #expect(
            frame(encoder, #""N""#, object: #""""#, userInfo: #"{ "a":1.0}"#, immediately: true)
                == wanted(
                    1, 99, sender, #""name":"N","object":"","deliverImmediately":true,"userInfo":{ "a":1.0}"#)
        )
        #expect(
            frame(encoder, #""N""#, userInfo: "{}") == wanted(1, 99, sender, #""name":"N","userInfo":{}"#))
    }

    /// The number's digits are counted up in place: over each power of ten, whatever else changes meanwhile.
    @Test(arguments: 1...5)
    func theNumberGrows(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let encoder = NotificationEncoder()
        var time: UInt64 = 9
        var sender = Self.poster
        for seq in 1...UInt64(10_050) {
            if random.oneIn(40) { time += UInt64(random.below(100)) }
            if random.oneIn(40) {
                let connection = 1 + random.below(200)
                sender = .init(connection: UInt64(connection), pid: Int32(connection * 499), uid: 5, gid: 0)
            }
            let given = encoder.advance(time: time, sender: sender)
            guard seq < 120 || (990...1010).contains(seq) || seq > 9990 else { continue }
            #expect(given == seq && encoder.seq == seq)
            #expect(frame(encoder, "1") == wanted(seq, time, sender, #""name":1"#), "seed \(seed)")
        }
    }

    @Test func theLargestNumbersFit() {
        let encoder = NotificationEncoder()
        let sender = NotificationEncoder.Sender(connection: .max, pid: .max, uid: .max, gid: .max)
        _ = encoder.advance(time: .max, sender: sender)
        let name = #""N""#
        #expect(
            frame(encoder, name, object: name, userInfo: "{}", immediately: true)
                == wanted(
                    1, .max, sender, #""name":"N","object":"N","deliverImmediately":true,"userInfo":{}"#))
        let unknown = NotificationEncoder.Sender(connection: 1, pid: -1, uid: 0, gid: 0)
        _ = encoder.advance(time: 0, sender: unknown)
        #expect(frame(encoder, name).contains(#""pid":0,"#))
    }

    @Test func retainedOnes() {
        func front(_ object: String?, _ immediately: Bool, _ userInfo: String?) -> String {
            let front = NotificationEncoder.retainedFront(
                seq: 7, time: 8, sender: Self.poster, name: Array(#""N""#.utf8),
                object: object.map { Array($0.utf8) }, deliverImmediately: immediately,
                observer: Array("o\"1".utf8), userInfoBytes: userInfo?.utf8.count)
            return checked(front + Array("\(userInfo ?? "")}".utf8))
        }
        #expect(
            front(nil, false, nil)
                == wanted(7, 8, Self.poster, #""name":"N","retained":true,"observer":"o\"1""#))
        #expect(
            front(#""x""#, true, "{}")
                == wanted(
                    7, 8, Self.poster,
                    #""name":"N","object":"x","deliverImmediately":true,"retained":true,"observer":"o\"1","userInfo":{}"#
                ))
    }
}

@Suite struct FrameWriterTests {
    @Test func membersInTheOrderOfTheCalls() throws {
        var frame = FrameWriter("novel")
        frame.member("a", UInt64.max)
        frame.member("b", -5)
        frame.member("c", true)
        frame.member("d", "x\"é")
        frame.member("e", text: [0x0A])
        frame.member("f", json: "[ ]".utf8)
        frame.key("g")
        frame.object { $0.member("h", false) }
        frame.key("i")
        frame.object { _ in }
        frame.key("j")
        frame.array([1, 2]) { $0.number($1) }
        frame.key("k")
        frame.array([[0x61], []]) { $0.string($1) }
        frame.key("l")
        frame.array(0..<2) { frame, each in frame.object { $0.member("m", each) } }
        frame.key("n")
        frame.array([Int]()) { $0.number($1) }
        let bytes = frame.finish()
        #expect(bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) } == bytes.count - 4)
        #expect(
            String(decoding: bytes.dropFirst(4), as: UTF8.self)
                == #"{"type":"novel","a":18446744073709551615,"b":0,"c":true,"d":"x\"é","e":"\n","f":[ ],"g":{"h":false},"#
                + #""i":{},"j":[1,2],"k":["a",""],"l":[{"m":0},{"m":1}],"n":[]}"#)
    }

    @Test func theShortestFrame() {
        #expect(FrameWriter("x").finish() == [0, 0, 0, 12] + Array(#"{"type":"x"}"#.utf8))
    }
}
