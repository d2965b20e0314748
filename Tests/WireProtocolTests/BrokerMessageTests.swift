import Testing

@testable import WireProtocol

@Suite struct BrokerMessageTests {
    private func decode(_ json: String) throws -> BrokerMessage {
        try Array(json.utf8).withUnsafeBytes { try BrokerMessageDecoder().decode($0) }
    }

    @Test func aNotificationKeepsItsBytesAndGivesItsStringsUnescaped() throws {
        let json = #"""
            { "new":[{}], "userInfo" : {"d\u0061ta":"\ud83d\ude00","n":1.0,"n":2.50} ,"object":"o\"k","name":"N\u00e9",
            "sender":{"gid":3,"x":{"pid":9},"uid":2,"pid":7,"connection":4},"time":5,"seq":6,
            "t\u0079pe":"notif\u0069cation","deliverImmediately":true,"retained":true,"observer":"1"}
            """#
        guard case .notification(let notification) = try decode(json) else { throw Unexpected() }
        #expect(notification.bytes == Array(json.utf8))
        #expect(notification.name == "N\u{E9}")
        #expect(notification.object == "o\"k")
        #expect(notification.observer == "1")
        #expect(notification.seq == 6)
        #expect(notification.time == 5)
        #expect(notification.deliversImmediately && notification.isRetained)
        let sender = notification.sender
        #expect([Int(sender.connection), Int(sender.pid), Int(sender.uid), Int(sender.gid)] == [4, 7, 2, 3])
        #expect(notification.member(Array("data".utf8)) == .string(Array("\u{1F600}".utf8)))
        #expect(notification.member(Array("n".utf8)) == .json(Array("2.50".utf8)))
        #expect(notification.member(Array("none".utf8)) == nil)
    }

    @Test func membersThatAreAbsentOrNullAreNil() throws {
        let json = #"{"type":"notification","seq":1,"name":"N","object":null,"userInfo":null}"#
        guard case .notification(let notification) = try decode(json) else { throw Unexpected() }
        #expect(notification.object == nil)
        #expect(notification.userInfo == nil)
        #expect(notification.observer == nil)
        #expect(notification.sender == ReceivedNotification.Sender())
        #expect(!notification.isRetained && !notification.deliversImmediately)
    }

    @Test func theOtherTypes() throws {
        guard
            case .welcome(let welcome) = try decode(
                #"{"type":"welcome","protocol":1,"broker":{"version":"2","instance":"i"},"connection":3,"seq":4,"#
                    + #""limits":{"frameBytes":5,"observers":6,"novel":7}}"#),
            case .error(let refusal) = try decode(#"{"type":"error","code":"novel","message":"m"}"#),
            case .goodbye(let goodbye) = try decode(#"{"type":"goodbye","reason":"novel"}"#),
            case .gap(let gap) = try decode(#"{"type":"gap","count":3,"first":1,"last":5}"#),
            case .status(let status) = try decode(
                #"{"type":"status","id":1,"version":"2","pid":3,"clients":[{"pid":4,"paused":true,"client":"c"},{}]}"#
            ),
            case .unknown = try decode(#"{"type":"novelty","id":"x"}"#)
        else { throw Unexpected() }
        #expect([welcome.version, welcome.instance] == ["2", "i"])
        #expect([welcome.limits.frameBytes, welcome.limits.observers, welcome.limits.depth] == [5, 6, 128])
        #expect(refusal.code == .unknown("novel") && refusal.id == nil)
        #expect(goodbye.reason == nil && goodbye.message == "")
        #expect([gap.count, gap.first, gap.last] == [3, 1, 5])
        #expect(status.version == "2" && status.figure("pid") == 3 && status.figure("posted") == 0)
        #expect(status.clients.map(\.pid) == [4, 0])
        #expect(status.clients[0].isPaused && status.clients[0].client == "c")
    }

    @Test(arguments: [
        "", "x", "[]", "{}", #"{"type":1}"#, #"{"type":"ok"}"#, #"{"type":"ok","id":1.0}"#,
        #"{"type":"ok","id":-1}"#, #"{"type":"ok","id":99999999999999999999}"#, #"{"type":"ok","id":1}x"#,
        #"{"type":"ok","id":1,"id":1}"#, #"{"type":"notification","seq":1}"#,
        #"{"type":"notification","name":"N"}"#,
        #"{"type":"notification","seq":1,"name":7}"#,
        #"{"type":"notification","seq":1,"name":"N","userInfo":[]}"#,
        #"{"type":"notification","seq":1,"name":"N","object":{}}"#, #"{"type":"gap","count":1}"#,
        #"{"type":"welcome","protocol":2}"#, #"{"type":"welcome"}"#, #"{"type":"status"}"#,
    ])
    func whatNoBrokerWritesIsAnError(_ json: String) {
        #expect(throws: BrokerMessageError.self) { _ = try decode(json) }
    }

    /// Cut and changed anywhere, a frame is refused or understood, but never fatal.
    @Test(arguments: 1...20)
    func mutatedFramesDoNotTrap(seed: UInt64) {
        var state = seed
        func random(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        let frames = [
            #"{"type":"notification","seq":1,"time":2,"sender":{"pid":1},"name":"N\u0041","object":"o","userInfo":{"a":"\n"}}"#,
            #"{"type":"status","id":1,"clients":[{"pid":4,"paused":true,"client":"\ud83d\ude00"}],"pid":3}"#,
            #"{"type":"welcome","protocol":1,"broker":{"version":"2"},"limits":{"depth":3}}"#,
        ]
        for round in 0..<2000 {
            var bytes = Array(frames[round % frames.count].utf8)
            for _ in 0...random(3) {
                bytes[random(bytes.count)] = UInt8(random(256))
            }
            let cut = bytes.prefix(random(4) == 0 ? random(bytes.count) : bytes.count)
            let message = Array(cut).withUnsafeBytes { try? BrokerMessageDecoder().decode($0) }
            if case .notification(let notification) = message {
                _ = notification.name + (notification.object ?? "") + (notification.observer ?? "")
                _ = notification.member([0x61])
            }
        }
    }
}

@Suite struct RequestEncoderTests {
    private func frame(_ encode: (inout [UInt8]) -> Void) -> String {
        var bytes: [UInt8] = [7]
        encode(&bytes)
        let length = bytes[1..<5].reduce(0) { $0 << 8 | Int($1) }
        #expect(bytes.count == 5 + length)
        return String(decoding: bytes[5...], as: UTF8.self)
    }

    @Test func everyRequest() {
        let all = Post(
            name: "N\"\\\u{1}", object: "", userInfo: Array(#"{ "a" : 1.0 }"#.utf8),
            deliversImmediately: true,
            retention: .keep)
        #expect(
            frame { RequestEncoder.post(all, id: 9_007_199_254_740_991, to: &$0) }
                == #"{"type":"post","id":9007199254740991,"name":"N\"\\\u0001","object":"","deliverImmediately":true,"#
                + #""retain":true,"userInfo":{ "a" : 1.0 }}"#)
        #expect(
            frame { RequestEncoder.post(Post(name: "N", retention: .clear), id: nil, to: &$0) }
                == #"{"type":"post","name":"N","retain":"clear"}"#)
        #expect(
            frame { RequestEncoder.hello(client: nil, id: 1, to: &$0) }
                == #"{"type":"hello","id":1,"protocol":1}"#)
        #expect(
            frame {
                RequestEncoder.addObserver("1", names: .all, object: "o", overflow: .drop, id: 2, to: &$0)
            }
                == #"{"type":"addObserver","id":2,"observer":"1","object":"o","overflow":"drop"}"#)
        #expect(
            frame { RequestEncoder.removeObserver("1", id: nil, to: &$0) }
                == #"{"type":"removeObserver","observer":"1"}"#)
        #expect(
            frame { RequestEncoder.awaitObservers(name: "N", object: nil, count: 3, id: 4, to: &$0) }
                == #"{"type":"awaitObservers","id":4,"name":"N","count":3}"#)
        #expect(frame { RequestEncoder.ping(id: nil, to: &$0) } == #"{"type":"ping"}"#)
        #expect(frame { RequestEncoder.stop(id: 0, to: &$0) } == #"{"type":"stop","id":0}"#)
        #expect(
            frame { RequestEncoder.status(detail: true, id: 5, to: &$0) }
                == #"{"type":"status","id":5,"detail":true}"#)
    }
}

private struct Unexpected: Error {}

@Suite struct PostTests {
    @Test(arguments: [nil, 0, 9, 10, 9_007_199_254_740_991] as [UInt64?])
    func itsFrameIsAsLongAsItSays(id: UInt64?) {
        for post in [Post(name: "N"), Post(name: "N\n", object: "o", userInfo: Array("{}".utf8))] {
            var frame: [UInt8] = []
            RequestEncoder.post(post, id: id, to: &frame)
            #expect(post.frameBytes(id: id) == frame.count - 4)
        }
    }

    @Test func itsDepthIsThatOfItsFrame() {
        for levels in 1...140 {
            let arrays = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
            let post = Post(name: "N[", userInfo: Array(#"{"a":\#(arrays)}"#.utf8))
            for limit in [2, 3, 100, 128] { #expect(post.isDeeper(than: limit) == (2 + levels > limit)) }
        }
        let wide = "[" + Array(repeating: "{}", count: 500).joined(separator: ",") + "]"
        let post = Post(name: "N", userInfo: Array(#"{"a":\#(wide)}"#.utf8))
        #expect(post.isDeeper(than: 3) && !post.isDeeper(than: 4))
    }
}
