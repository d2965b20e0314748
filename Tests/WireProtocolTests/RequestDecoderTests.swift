import Testing
import WireProtocol

@Suite struct RequestDecoderTests {
    private struct Unscannable: Error {}

    /// The request as one line of text, or the refusal.
    private func decode(_ text: String) throws -> Result<String, RequestDecoder.Refusal> {
        try Array(text.utf8).withUnsafeBytes { bytes in
            let scanner = FrameScanner()
            if case .fault = scanner.scan(bytes) { throw Unscannable() }
            let decoder = RequestDecoder(scanner, text: bytes)
            return Result { () throws(RequestDecoder.Refusal) in
                let request = try decoder.request()
                let id = (try? decoder.id()) ?? nil
                return (id.map { "\($0) " } ?? "") + describe(request, bytes)
            }
        }
    }

    private func describe(_ request: Request, _ text: UnsafeRawBufferPointer) -> String {
        func value(_ span: FieldSpan?) -> String {
            span.map { String(decoding: text[$0.range], as: UTF8.self) } ?? "-"
        }
        switch request {
        case .hello(let hello): return "hello \(value(hello.client)) \(hello.namesFeatures)"
        case .post(let post):
            return "post \(value(post.name)) \(value(post.object)) \(value(post.userInfo)) "
                + "\(post.deliverImmediately) \(post.retain)"
        case .addObserver(let observer):
            let subject =
                switch observer.subject {
                case .everything: "all"
                case .name(let span): "name \(value(span))"
                case .pattern(let span): "match \(value(span))"
                }
            return "add \(value(observer.label)) \(subject) \(value(observer.object)) \(observer.overflow)"
        case .removeObserver(let label): return "remove \(value(label))"
        case .awaitObservers(let wait): return "await \(value(wait.name)) \(value(wait.object)) \(wait.count)"
        case .ping: return "ping"
        case .status(let detail): return "status \(detail)"
        case .stop: return "stop"
        }
    }

    @Test(arguments: [
        (#"{"type":"ping"}"#, "ping"), (#"{"id":0,"type":"ping"}"#, "0 ping"),
        (#"{"id":9007199254740991,"type":"\u0070ing"}"#, "9007199254740991 ping"),
        (#"{"type":"ping","id":null}"#, "ping"), (#"{"type":"stop"}"#, "stop"),
        (#"{"type":"hello","protocol":1}"#, "hello - false"),
        (#"{"type":"hello","protocol":1,"client":"c","features":[]}"#, #"hello "c" true"#),
        (#"{"type":"hello","protocol":1,"client":null,"features":null}"#, "hello - false"),
        (#"{"type":"hello","protocol":1,"features":["a","\u0041"]}"#, "hello - true"),
        (#"{"type":"post","name":"N"}"#, #"post "N" - - false no"#),
        (
            #"{"type":"post","name":"N","object":"","userInfo":{ },"deliverImmediately":true,"retain":true}"#,
            #"post "N" "" { } true keep"#
        ),
        (
            #"{"type":"post","name":"N","object":null,"userInfo":null,"deliverImmediately":null,"retain":null}"#,
            #"post "N" - - false no"#
        ),
        (#"{"type":"post","name":"N","retain":false}"#, #"post "N" - - false no"#),
        (#"{"type":"post","name":"N","retain":"cl\u0065ar"}"#, #"post "N" - - false clear"#),
        (#"{"type":"addObserver","observer":"1"}"#, #"add "1" all - wait"#),
        (
            #"{"type":"addObserver","observer":"1","name":"N","match":null,"object":"o","overflow":"drop"}"#,
            #"add "1" name "N" "o" drop"#
        ),
        (
            #"{"type":"addObserver","observer":"1","match":"*","overflow":"coalesce"}"#,
            #"add "1" match "*" - coalesce"#
        ),
        (#"{"type":"addObserver","observer":"1","overflow":null}"#, #"add "1" all - wait"#),
        (#"{"type":"removeObserver","observer":""}"#, #"remove """#),
        (#"{"type":"awaitObservers","id":1,"name":"N","count":1}"#, #"1 await "N" - 1"#),
        (
            #"{"type":"awaitObservers","id":1,"name":"N","object":"o","count":1000000}"#,
            #"1 await "N" "o" 1000000"#
        ),
        (#"{"type":"status","id":1}"#, "1 status false"),
        (#"{"type":"status","id":1,"detail":true}"#, "1 status true"),
    ])
    func requests(text: String, request: String) throws {
        #expect(try decode(text).get() == request)
    }

    struct Refused: Sendable {
        var text: String
        var code: ErrorCode
        var id: UInt64?
        var message: String

        init(_ text: String, _ code: ErrorCode, _ id: UInt64?, _ message: String) {
            self.text = text
            self.code = code
            self.id = id
            self.message = message
        }
    }

    static let features33 = Array(repeating: #""f""#, count: 33).joined(separator: ",")
    static let long65 = String(repeating: "x", count: 65)

    @Test(arguments: [
        Refused("{}", .missingMember, nil, #""type" is missing"#),
        Refused(#"{"id":5}"#, .missingMember, 5, #""type""#),
        Refused(#"{"type":1,"id":5}"#, .invalidMember, 5, #""type" at byte 8 must be a string"#),
        Refused(#"{"type":null}"#, .invalidMember, nil, "must be a string"),
        Refused(#"{"type":"","id":5}"#, .unknownType, 5, #"type "" at byte 8"#),
        Refused(#"{"type":"Post"}"#, .unknownType, nil, #""Post""#),
        Refused(#"{"type":"notification"}"#, .unknownType, nil, "notification"),
        Refused(#"{"type":"\#(long65)"}"#, .unknownType, nil, "(65 bytes)"),
        // The type before the members, the id among them first.
        Refused(#"{"id":1.0,"type":"x"}"#, .unknownType, nil, "x"),
        Refused(#"{"id":1.0,"x":1,"type":"ping"}"#, .invalidMember, nil, #""id" at byte 6"#),
        Refused(#"{"id":1e0,"type":"ping"}"#, .invalidMember, nil, #""id""#),
        Refused(#"{"id":-0,"type":"ping"}"#, .invalidMember, nil, #""id""#),
        Refused(#"{"id":-1,"type":"ping"}"#, .invalidMember, nil, #""id""#),
        Refused(#"{"id":9007199254740992,"type":"ping"}"#, .invalidMember, nil, "9007199254740991"),
        Refused(#"{"id":99999999999999999999,"type":"ping"}"#, .invalidMember, nil, #""id""#),
        Refused(#"{"id":"1","type":"ping"}"#, .invalidMember, nil, #""id""#),
        Refused(#"{"type":"ping","id":7,"x\n":1}"#, .unknownMember, 7, "x\n"),
        Refused(#"{"type":"ping","x":1,"y":2}"#, .unknownMember, nil, #""x" at byte 15"#),
        Refused(#"{"type":"ping","name":null}"#, .unknownMember, nil, #"no member "name""#),
        Refused(#"{"type":"post","id":3,"name":"N","observer":"1"}"#, .unknownMember, 3, #""observer""#),
        Refused(#"{"type":"post","seq":3,"name":"N"}"#, .unknownMember, nil, #""seq""#),
        Refused(#"{"type":"post"}"#, .missingMember, nil, #"needs the member "name""#),
        Refused(#"{"type":"post","name":null}"#, .invalidMember, nil, "must be a string"),
        Refused(#"{"type":"post","name":7}"#, .invalidMember, nil, #""name" at byte 22"#),
        Refused(#"{"type":"post","name":"N","object":0}"#, .invalidMember, nil, #""object""#),
        Refused(#"{"type":"post","name":"N","userInfo":[]}"#, .invalidMember, nil, "an object or null"),
        Refused(#"{"type":"post","name":"N","userInfo":"{}"}"#, .invalidMember, nil, #""userInfo""#),
        Refused(#"{"type":"post","name":"N","deliverImmediately":1}"#, .invalidMember, nil, "true or false"),
        Refused(#"{"type":"post","name":"N","retain":"clea"}"#, .invalidMember, nil, #""retain""#),
        Refused(#"{"type":"post","name":"N","retain":1}"#, .invalidMember, nil, #""retain""#),
        Refused(#"{"type":"addObserver"}"#, .missingMember, nil, #""observer""#),
        Refused(#"{"type":"addObserver","observer":1}"#, .invalidMember, nil, #""observer""#),
        Refused(#"{"type":"addObserver","observer":"1","name":[]}"#, .invalidMember, nil, #""name""#),
        Refused(
            #"{"type":"addObserver","observer":"1","name":"N","match":"M"}"#, .invalidMember, nil, "both"),
        Refused(#"{"type":"addObserver","observer":"1","overflow":"Wait"}"#, .invalidMember, nil, "coalesce"),
        Refused(#"{"type":"removeObserver"}"#, .missingMember, nil, #""observer""#),
        Refused(#"{"type":"awaitObservers","name":"N","count":1}"#, .missingMember, nil, #""id""#),
        Refused(#"{"type":"awaitObservers","id":null,"name":"N","count":1}"#, .missingMember, nil, #""id""#),
        Refused(#"{"type":"awaitObservers","id":1,"name":"N"}"#, .missingMember, 1, #""count""#),
        Refused(#"{"type":"awaitObservers","id":1,"name":"N","count":0}"#, .invalidMember, 1, "1 to 1000000"),
        Refused(
            #"{"type":"awaitObservers","id":1,"name":"N","count":1000001}"#, .invalidMember, 1, #""count""#),
        Refused(
            #"{"type":"awaitObservers","id":1,"name":"N","count":18446744073709551615}"#, .invalidMember, 1,
            "1"),
        Refused(#"{"type":"awaitObservers","id":1,"name":"N","count":1.0}"#, .invalidMember, 1, #""count""#),
        Refused(#"{"type":"status"}"#, .missingMember, nil, #""id""#),
        Refused(#"{"type":"status","id":1,"detail":"yes"}"#, .invalidMember, 1, #""detail""#),
        Refused(#"{"type":"stop","name":"N"}"#, .unknownMember, nil, #""name""#),
        Refused(#"{"type":"hello"}"#, .missingMember, nil, #""protocol""#),
        Refused(#"{"type":"hello","id":2,"protocol":2}"#, .unsupportedProtocol, 2, "protocol 2"),
        Refused(#"{"type":"hello","protocol":0}"#, .unsupportedProtocol, nil, "protocol 0"),
        Refused(#"{"type":"hello","protocol":1.0}"#, .invalidMember, nil, "an integer"),
        Refused(#"{"type":"hello","protocol":"1"}"#, .invalidMember, nil, #""protocol""#),
        Refused(#"{"type":"hello","protocol":null}"#, .invalidMember, nil, #""protocol""#),
        Refused(#"{"type":"hello","protocol":1,"client":1}"#, .invalidMember, nil, #""client""#),
        Refused(#"{"type":"hello","protocol":1,"features":{}}"#, .invalidMember, nil, "array of strings"),
        Refused(
            #"{"type":"hello","protocol":1,"features":["a",1]}"#, .invalidMember, nil, "array of strings"),
        Refused(#"{"type":"hello","protocol":1,"features":[""]}"#, .invalidMember, nil, "0 bytes"),
        Refused(#"{"type":"hello","protocol":1,"features":["\#(long65)"]}"#, .invalidMember, nil, "65 bytes"),
        Refused(
            #"{"type":"hello","protocol":1,"features":[\#(features33)]}"#, .invalidMember, nil, "33 strings"),
    ])
    func refusals(refused: Refused) throws {
        guard case .failure(let refusal) = try decode(refused.text) else {
            Issue.record("not refused: \(refused.text)")
            return
        }
        #expect(refusal.error.code == refused.code, "\(refused.text)")
        #expect(refusal.id == refused.id, "\(refused.text)")
        #expect(refusal.error.message.contains(refused.message), "\(refusal.error.message)")
    }

    @Test func policiesFromTheMostLosslessOn() {
        #expect(Overflow.allCases.sorted() == [.wait, .coalesce, .drop])
    }
}
