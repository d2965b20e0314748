import Foundation
import TestSupport
import Testing

@testable import DistributedNotifications

@Suite struct UserInfoJSONTests {
    static let written: [(UserInfoValue, String)] = [
        (.null, "null"), (.bool(true), "true"), (.bool(false), "false"),
        (.int(0), "0"), (.int(-5), "-5"), (.int(.min), "-9223372036854775808"),
        (.uint(.max), "18446744073709551615"),
        (.double(1), "1.0"), (.double(-0.0), "-0.0"), (.double(1e22), "1e+22"), (.double(0.1), "0.1"),
        (.double(.nan), #"{"$double":"nan"}"#), (.double(.infinity), #"{"$double":"inf"}"#),
        (.double(-.infinity), #"{"$double":"-inf"}"#),
        (.string("a\"\\\n\u{1}é/"), #""a\"\\\n\u0001é/""#),
        (.data(Data([0, 255, 1, 2])), #"{"$data":"AP8BAg=="}"#),
        (.date(Date(timeIntervalSinceReferenceDate: 0)), #"{"$date":"2001-01-01T00:00:00Z"}"#),
        (.array([.int(1), .array([]), .null]), "[1,[],null]"),
        (.dictionary([:]), "{}"),
        (.dictionary(["$date": .string("x")]), #"{"$$date":"x"}"#),
        (.dictionary(["$$": .int(1)]), #"{"$$$":1}"#),
        (.dictionary(["$": .null]), #"{"$$":null}"#),
    ]

    @Test("values have this JSON form, and come back", arguments: written)
    func form(value: UserInfoValue, json: String) throws {
        let text = try UserInfo(values: ["key": value]).json()
        #expect(String(decoding: text, as: UTF8.self) == #"{"key":\#(json)}"#)
        let back = try #require(try UserInfo(json: text)["key"])
        if case .double(let sent) = value, case .double(let came) = back {
            #expect(sent.isNaN ? came.isNaN : sent.bitPattern == came.bitPattern)
        } else {
            #expect(back == value)
        }
    }

    static let read: [(String, UserInfoValue)] = [
        ("-0", .int(0)), ("1E2", .double(100)), ("0e1", .double(0)), ("9223372036854775807", .int(.max)),
        ("9223372036854775808", .uint(1 << 63)), ("18446744073709551616", .double(18446744073709551616)),
        ("-9223372036854775809", .double(-9223372036854775808)),
        (#""\u0041\ud83d\ude00\/\b""#, .string("A😀/\u{8}")),
        (
            #"{"$date":"2026-11-30T01:02:04.5Z"}"#,
            .date(Date(timeIntervalSince1970: 1_795_999_324.5 + 1_000_000))
        ),
        (#"{"$date":"2026-11-30 01:02:04Z"}"#, .dictionary(["$date": .string("2026-11-30 01:02:04Z")])),
        (#"{"$date":"2026-02-29T01:02:04Z"}"#, .dictionary(["$date": .string("2026-02-29T01:02:04Z")])),
        (#"{"$data":"A"}"#, .dictionary(["$data": .string("A")])),
        (#"{"$data":5}"#, .dictionary(["$data": .int(5)])),
        (#"{"$double":"Infinity"}"#, .dictionary(["$double": .string("Infinity")])),
        (#"{"$other":1}"#, .dictionary(["$other": .int(1)])),
        (
            #"{"$date":"2001-01-01T00:00:00Z","b":1}"#,
            .dictionary(["$date": .string("2001-01-01T00:00:00Z"), "b": .int(1)])
        ),
        (#"{"a":1,"a":2}"#, .dictionary(["a": .int(2)])),
        ("{\"\u{e9}\":1,\"e\u{301}\":2}", .dictionary(["\u{e9}": .int(2)])),
        (" [ 1 , { } ] ", .array([.int(1), .dictionary([:])])),
    ]

    @Test("what others write is read so", arguments: read)
    func reading(json: String, value: UserInfoValue) throws {
        let back = try UserInfo(json: Array(#"{"key":\#(json)}"#.utf8))["key"]
        if case .date(let date) = value, case .date(let came)? = back, json.contains("04.5Z") {
            #expect(came.timeIntervalSince(date).truncatingRemainder(dividingBy: 1) == 0)
        } else {
            #expect(back == value)
        }
    }

    @Test("numbers beyond a Double are undecodable, with their key path")
    func beyondDouble() throws {
        let error = #expect(throws: DistributedNotificationError.self) {
            try UserInfo(json: Array(#"{"a":{"b":[1,{"c":1e400}]}}"#.utf8))
        }
        #expect(error?.code == .undecodable)
        #expect(error?.keyPath == "a.b[1].c")
    }

    @Test(
        "what is no JSON is undecodable and never traps",
        arguments: [
            "", "{", "}", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,}", "[1]", "{\"a\":01}", "{\"a\":-}",
            "{\"a\":1.}",
            "{\"a\":1e}", "{\"a\":tru}", "{\"a\":nul", "{\"a\":\"", "{\"a\":\"\\", "{\"a\":\"\n\"}", "{}x",
            "{1:2}",
            "{\"a\" 1}", "{\"a\":1 \"b\":2}", "null", String(repeating: "[", count: 100_000),
        ])
    func invalid(json: String) {
        #expect(throws: DistributedNotificationError.self) { try UserInfo(json: Array(json.utf8)) }
    }

    @Test("a year that RFC 3339 lacks can't be sent")
    func invalidDate() {
        let error = #expect(throws: DistributedNotificationError.self) {
            try UserInfo(values: [
                "a": .array([.date(.distantFuture), .date(Date(timeIntervalSince1970: 1e12))])
            ]).json()
        }
        #expect(error?.keyPath == "a[1]")
    }

    @Test("too deep a value is an error, not an overflow")
    func tooDeep() {
        var value = UserInfoValue.null
        for _ in 0..<600 { value = .array([value]) }
        #expect(throws: DistributedNotificationError.self) { try UserInfo(values: ["a": value]).json() }
    }

    @Test("any tree comes out as it went in", arguments: 0..<40)
    func roundTrip(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<25 {
            let info = UserInfo(values: Self.members(&generator, depth: 0))
            let json = try info.json()
            let foundation = try JSONSerialization.jsonObject(with: Data(json))
            #expect(foundation is [String: Any], "seed \(seed)")
            #expect(try UserInfo(json: json) == info, "seed \(seed)")
        }
    }

    @Test("bytes that were changed at random never trap", arguments: 0..<20)
    func fuzz(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            var json = try UserInfo(values: Self.members(&generator, depth: 0)).json()
            for _ in 0..<3 {
                json[Int.random(in: json.indices, using: &generator)] =
                    Array(#"{}[]",:\0e-u$"#.utf8).randomElement(using: &generator)
                    ?? UInt8.random(in: 0...255)
            }
            if let info = try? UserInfo(json: json) {
                #expect(try UserInfo(json: try info.json()) == info, "seed \(seed)")
            }
        }
    }

    static func members(_ generator: inout SeededGenerator, depth: Int) -> [String: UserInfoValue] {
        var members: [String: UserInfoValue] = [:]
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            members[text(&generator)] = value(&generator, depth: depth)
        }
        return members
    }

    static func value(_ generator: inout SeededGenerator, depth: Int) -> UserInfoValue {
        switch Int.random(in: 0...(depth > 4 ? 7 : 9), using: &generator) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &generator))
        case 2:
            return .int(
                Int64.random(in: .min ... .max, using: &generator)
                    >> Int64.random(in: 0..<64, using: &generator))
        case 3: return UInt64.random(in: .min ... .max, using: &generator).userInfoValue
        case 4:
            let double = Double(bitPattern: UInt64.random(in: .min ... .max, using: &generator))
            return .double(double.isNaN ? 0.5 : double)
        case 5: return .string(text(&generator))
        case 6:
            return .date(
                Date(timeIntervalSinceReferenceDate: (Double.random(in: -6e10...2.5e11, using: &generator))))
        case 7: return .data(Data((0..<Int.random(in: 0...7, using: &generator)).map { UInt8($0 * 37) }))
        case 8:
            return .array(
                (0..<Int.random(in: 0...3, using: &generator)).map { _ in value(&generator, depth: depth + 1)
                })
        default: return .dictionary(members(&generator, depth: depth + 1))
        }
    }

    static func text(_ generator: inout SeededGenerator) -> String {
        let pieces = ["$", "$date", "a", "b", "\"", "\\", "\u{0}", "\n", "é", "😀", "key", " "]
        return (0..<Int.random(in: 0...4, using: &generator)).map { _ in
            pieces.randomElement(using: &generator) ?? ""
        }
        .joined()
    }
}

extension UserInfo {
    init(json: [UInt8]) throws(DistributedNotificationError) {
        try self.init(json: json, in: 0..<json.count)
    }
}

extension UserInfo {
    fileprivate func json() throws(DistributedNotificationError) -> [UInt8] {
        var json: [UInt8] = []
        try append(to: &json)
        return json
    }
}
