import Foundation
import Testing

@testable import DistributedNotifications

@Suite struct CodingTests {
    struct Order: Codable, Equatable {
        struct Item: Codable, Equatable {
            var name: String
            var price: Double
            var count: Int?
        }
        enum State: String, Codable { case open, paid }
        enum Payment: Codable, Equatable {
            case cash
            case card(number: String)
        }

        var id: UInt64
        var items: [Item]
        var state: State
        var payments: [Payment]
        var placed: Date
        var picture: Data
        var link: URL
        var total: Decimal
        var uuid: UUID
        var ratio: Float
        var weights: [String: Double]
        var matrix: [[Int8]]
        var note: String?
        var limit: Double
        var isGift: Bool
    }

    static let order = Order(
        id: .max, items: [.init(name: "a\"b", price: 1, count: nil), .init(name: "é", price: 0.1, count: 3)],
        state: .paid, payments: [.cash, .card(number: "4")],
        placed: Date(timeIntervalSinceReferenceDate: 812_000_000.123456),
        picture: Data([1, 2, 3]), link: URL(fileURLWithPath: "/tmp/x"), total: Decimal(string: "12.30") ?? 0,
        uuid: UUID(),
        ratio: 0.1, weights: ["$": 1], matrix: [[1, -1], []], note: nil, limit: .infinity, isGift: true)

    func decoded<T: Decodable>(_ type: T.Type, _ json: String) throws -> T {
        let bytes = Array(json.utf8)
        return try MessageDecoder.decode(type, from: bytes, in: 0..<bytes.count)
    }

    @Test("a message comes out as it went in")
    func roundTrip() throws {
        let json = try encoded(Self.order)
        #expect(try MessageDecoder.decode(Order.self, from: json, in: 0..<json.count) == Self.order)
        #expect(try UserInfo(json: json).decode(Order.self) == Self.order)
    }

    @Test("a message is plain JSON")
    func form() throws {
        let json = String(decoding: try encoded(Self.order), as: UTF8.self)
        #expect(json.contains(#""id":18446744073709551615"#))
        #expect(json.contains(#""price":1.0"#))
        #expect(json.contains(#""placed":{"$date":"2026-09-"#))
        #expect(json.contains(#""picture":{"$data":"AQID"}"#))
        #expect(json.contains(#""link":"file:///tmp/x""#))
        #expect(json.contains(#""weights":{"$$":1.0}"#))
        #expect(json.contains(#""limit":{"$double":"inf"}"#))
        #expect(!json.contains("note"))
    }

    class Base: Codable {
        var base = 1
        init() {}
    }

    final class Derived: Base {
        var derived = "d"
        enum CodingKeys: String, CodingKey { case derived }
        override init() { super.init() }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            derived = try container.decode(String.self, forKey: .derived)
            try super.init(from: try container.superDecoder())
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try super.encode(to: container.superEncoder())
            try container.encode(derived, forKey: .derived)
        }
    }

    @Test("classes encode their superclass")
    func superclass() throws {
        let object = Derived()
        object.base = 7
        let json = try encoded(object)
        #expect(String(decoding: json, as: UTF8.self) == #"{"super":{"base":7},"derived":"d"}"#)
        let back = try MessageDecoder.decode(Derived.self, from: json, in: 0..<json.count)
        #expect(back.base == 7)
        #expect(back.derived == "d")
    }

    struct Interleaved: Encodable {
        enum Key: String, CodingKey { case a, b, c }
        func encode(to encoder: any Encoder) throws {
            var top = encoder.container(keyedBy: Key.self)
            var a = top.nestedContainer(keyedBy: Key.self, forKey: .a)
            var b = top.nestedUnkeyedContainer(forKey: .b)
            try b.encode(1)
            try a.encode("x", forKey: .a)
            var inner = b.nestedContainer(keyedBy: Key.self)
            try top.encode(true, forKey: .c)
            try b.encodeNil()
            try inner.encode(2, forKey: .b)
            try a.encode(1.5, forKey: .b)
        }
    }

    @Test("nested containers may be filled in turns")
    func interleaved() throws {
        let json = try encoded(Interleaved())
        #expect(
            String(decoding: json, as: UTF8.self) == #"{"a":{"a":"x","b":1.5},"b":[1,{"b":2},null],"c":true}"#
        )
    }

    struct Forgiving: Encodable {
        enum Key: String, CodingKey { case a, b, c, d, e }
        struct Refusal: Error {}
        /// Fails when it has written something, also in a container of its own.
        struct Failing: Encodable {
            func encode(to encoder: any Encoder) throws {
                var top = encoder.container(keyedBy: Key.self)
                try top.encode(1, forKey: .a)
                var nested = top.nestedUnkeyedContainer(forKey: .b)
                try nested.encode(2)
                throw Refusal()
            }
        }
        struct FailingOnce: Encodable {
            func encode(to encoder: any Encoder) throws {
                var whole = encoder.singleValueContainer()
                try? whole.encode(Failing())
                try whole.encode("instead")
            }
        }

        func encode(to encoder: any Encoder) throws {
            var top = encoder.container(keyedBy: Key.self)
            try? top.encode(Failing(), forKey: .a)
            try top.encode(FailingOnce(), forKey: .b)
            var list = top.nestedUnkeyedContainer(forKey: .c)
            try? list.encode(Failing())
            try list.encode(3)
            try? list.encode([Failing()])
            try? top.encode(Date(timeIntervalSince1970: .infinity), forKey: .d)
            try? Failing().encode(to: top.superEncoder(forKey: .e))
        }
    }

    @Test("what failed leaves nothing behind, if encoding goes on")
    func forgiving() throws {
        let json = try encoded(Forgiving())
        #expect(
            String(decoding: json, as: UTF8.self) == #"{"b":"instead","c":[3],"e":{"a":1,"b":[2]}}"#)
    }

    /// A key whose life can be watched.
    struct Mortal: Encodable {
        final class Token: Sendable {}
        struct Key: CodingKey {
            let token: Token
            var stringValue: String { "key" }
            var intValue: Int? { nil }
            init(token: Token) { self.token = token }
            init?(stringValue: String) { nil }
            init?(intValue: Int) { nil }
        }
        struct Refusal: Error {}

        let token: Token
        var isRefused = false
        func encode(to encoder: any Encoder) throws {
            var top = encoder.container(keyedBy: Key.self)
            var middle = top.nestedUnkeyedContainer(forKey: Key(token: token))
            _ = middle.nestedContainer(keyedBy: Key.self)
            if isRefused { throw Refusal() }
        }
    }

    @Test("nothing that an encoder held outlives it", arguments: [false, true])
    func encodersEnd(isRefused: Bool) {
        weak var left: Mortal.Token?
        do {
            let token = Mortal.Token()
            left = token
            let json = try? encoded(Mortal(token: token, isRefused: isRefused))
            #expect((json == nil) == isRefused)
        }
        #expect(left == nil)
    }

    struct DollarNested: Encodable {
        enum Key: String, CodingKey { case dollar = "$k" }
        func encode(to encoder: any Encoder) throws {
            var top = encoder.container(keyedBy: Key.self)
            var inner = top.nestedContainer(keyedBy: Key.self, forKey: .dollar)
            try inner.encode(1, forKey: .dollar)
        }
    }

    @Test("a nested container's key gets its dollar, too")
    func dollarNested() throws {
        let json = try encoded(DollarNested())
        #expect(String(decoding: json, as: UTF8.self) == #"{"$$k":{"$$k":1}}"#)
        #expect(try UserInfo(json: json)["$k"] == .dictionary(["$k": .int(1)]))
    }

    struct Dollar: Codable, Equatable {
        var value: Int
        enum CodingKeys: String, CodingKey { case value = "$value" }
    }

    @Test("a key that begins with a dollar is found, escaped or not")
    func dollar() throws {
        #expect(try decoded(Dollar.self, #"{"$$value":1}"#) == Dollar(value: 1))
        #expect(try decoded(Dollar.self, #"{"$value":1}"#) == Dollar(value: 1))
        #expect(try decoded(Dollar.self, #"{"$value":1,"b":2}"#) == Dollar(value: 1))
    }

    struct Numbers: Codable, Equatable {
        var i: Int = 0
        var d: Double = 0
        var f: Float = 0
        var u: UInt8 = 0
    }

    @Test("numbers are read as what is wanted, if they fit")
    func numbers() throws {
        #expect(
            try decoded(Numbers.self, #"{"i":5.0,"d":5,"f":0.1,"u":2e2}"#)
                == Numbers(i: 5, d: 5, f: 0.1, u: 200))
    }

    @Test(
        "what does not fit is named by its coding path",
        arguments: [
            (#"{"i":1,"d":1,"f":1}"#, "u"), (#"{"i":1.5,"d":1,"f":1,"u":1}"#, "i"),
            (#"{"i":true,"d":1,"f":1,"u":1}"#, "i"),
            (#"{"i":1,"d":1,"f":1,"u":256}"#, "u"), (#"{"i":1,"d":1e999,"f":1,"u":1}"#, "d"),
            (#"{"i":1,"d":1,"f":1e300,"u":1}"#, "f"), (#"{"i":null,"d":1,"f":1,"u":1}"#, "i"),
        ])
    func mismatches(json: String, keyPath: String) {
        let error = #expect(throws: DistributedNotificationError.self) { try decoded(Numbers.self, json) }
        #expect(error?.code == .undecodable)
        #expect(error?.keyPath == keyPath)
    }

    @Test("paths go through arrays")
    func arrayPath() {
        struct Outer: Codable { var orders: [[Numbers]] }
        let error = #expect(throws: DistributedNotificationError.self) {
            try decoded(Outer.self, #"{"x":[1,2],"orders":[[],[{"i":1,"d":1,"f":1,"u":1},{"i":"x"}]]}"#)
        }
        #expect(error?.keyPath == "orders[1][1].i")
    }

    @Test("what can't be sent is named by its coding path")
    func unsendable() {
        struct Inner: Codable { var when: [Date] }
        struct Outer: Codable { var inner: Inner }
        let error = #expect(throws: DistributedNotificationError.self) {
            try encoded(Outer(inner: Inner(when: [Date(), Date(timeIntervalSince1970: 1e15)])))
        }
        #expect(error?.code == .invalidValue)
        #expect(error?.keyPath == "inner.when[1]")
    }

    @Test("a message must be an object")
    func noObject() {
        #expect(throws: DistributedNotificationError.self) { try encoded([1, 2]) }
        #expect(throws: DistributedNotificationError.self) { try encoded("text") }
    }

    struct Empty: Codable, Equatable {}

    @Test("a message without members is an empty object")
    func empty() throws {
        #expect(try encoded(Empty()) == Array("{}".utf8))
        #expect(try decoded(Empty.self, "{}") == Empty())
    }

    @Test("many members, duplicates and escapes are found")
    func members() throws {
        let many = Dictionary(uniqueKeysWithValues: (0..<40).map { ("k\($0)", $0) })
        let json = try encoded(many)
        #expect(try MessageDecoder.decode([String: Int].self, from: json, in: 0..<json.count) == many)
        struct Three: Codable, Equatable { var a: Int, k: String, z: Int? }
        #expect(
            try decoded(Three.self, #"{"a":1,"\u006b":"x","z":null,"a":2}"#) == Three(a: 2, k: "x", z: nil))
        let filler = (0..<20).map { #""f\#($0)":\#($0)"# }.joined(separator: ",")
        #expect(
            try decoded(Three.self, #"{\#(filler),"a":1,"\u006b":"x","a":2}"#) == Three(a: 2, k: "x", z: nil))
    }

    struct Fallback: Decodable, Equatable {
        var values: [String]
        init(from decoder: any Decoder) throws {
            var container = try decoder.container(keyedBy: PathKey.self).nestedUnkeyedContainer(
                forKey: PathKey(stringValue: "v"))
            values = []
            while !container.isAtEnd {
                if try container.decodeNil() {
                    values.append("nil")
                } else if let text = try? container.decode(String.self) {
                    values.append(text)
                } else {
                    values.append("\(try container.decode(Double.self))")
                }
            }
        }
    }

    @Test("an element that does not fit can be tried as something else")
    func fallback() throws {
        #expect(try decoded(Fallback.self, #"{"v":[null,"a",1.5,"b"]}"#).values == ["nil", "a", "1.5", "b"])
    }
}

/// The same whatever is there before.
private func encoded(_ value: some Encodable) throws(DistributedNotificationError) -> [UInt8] {
    var alone: [UInt8] = []
    try MessageEncoder.encode(value, to: &alone)
    var behind = Array("behind".utf8)
    try MessageEncoder.encode(value, to: &behind)
    #expect(behind == Array("behind".utf8) + alone)
    return alone
}
