import Foundation
import Testing

@testable import DistributedNotifications

@Suite struct FoundationValuesTests {
    enum Color: String, UserInfoConvertible { case red, green }

    @Test("values of Foundation become what they are")
    func values() throws {
        let date = Date(timeIntervalSinceReferenceDate: 5)
        let info = try UserInfo([
            "string": "a", "nsstring": NSString("b"), "bool": true, "int": 1, "int8": Int8(-1),
            "uint": UInt.max,
            "double": 1.0, "float": Float(0.5), "cgfloat": CGFloat(2), "date": date,
            "nsdate": NSDate(timeIntervalSinceReferenceDate: 5),
            "data": Data([1]), "nsdata": NSData(data: Data([2])), "null": NSNull(), "none": Int?.none as Any,
            "some": Int?.some(3) as Any, "array": [1, "x", [true]] as [Any], "ints": [1, 2],
            "dictionary": ["a": ["b": 1] as [String: Any]] as [AnyHashable: Any], "strings": ["k": "v"],
            "nsarray": NSArray(array: [1]), "nsdictionary": NSDictionary(dictionary: ["k": 1]),
            "color": Color.green,
            "value": UserInfoValue.int(9),
        ])
        let expected: UserInfo = [
            "string": "a", "nsstring": "b", "bool": true, "int": 1, "int8": -1, "uint": UInt.max,
            "double": 1.0,
            "float": 0.5, "cgfloat": 2.0, "date": date, "nsdate": date, "data": Data([1]),
            "nsdata": Data([2]),
            "null": UserInfoValue.null, "none": UserInfoValue.null, "some": 3,
            "array": UserInfoValue.array([.int(1), .string("x"), .array([.bool(true)])]), "ints": [1, 2],
            "dictionary": UserInfoValue.dictionary(["a": .dictionary(["b": .int(1)])]), "strings": ["k": "v"],
            "nsarray": [1], "nsdictionary": ["k": 1], "color": "green", "value": 9,
        ]
        for key in expected.values.keys { #expect(info[key] == expected[key], "\(key)") }
        #expect(info == expected)
    }

    @Test(
        "an NSNumber is what it was made of",
        arguments: [
            (NSNumber(value: true), UserInfoValue.bool(true)), (NSNumber(value: false), .bool(false)),
            (NSNumber(value: 1), .int(1)), (NSNumber(value: 0), .int(0)), (NSNumber(value: 1.0), .double(1)),
            (NSNumber(value: Float(0.5)), .double(0.5)), (NSNumber(value: UInt64.max), .uint(.max)),
            (NSNumber(value: Int64.min), .int(.min)), (NSNumber(value: Int16(-3)), .int(-3)),
            (NSNumber(value: UInt8(200)), .int(200)),
        ])
    func number(number: NSNumber, value: UserInfoValue) throws {
        #expect(try UserInfo(["n": number])["n"] == value)
        #expect(try UserInfo(["n": [number] as [Any]])["n"] == .array([value]))
    }

    @Test("what can't be sent is named by its key path")
    func keyPaths() throws {
        let cases: [([AnyHashable: Any], String)] = [
            (["a": Decimal(1)], "a"), (["a": NSDecimalNumber(value: 1)], "a"), (["a": UUID()], "a"),
            (["a": ["b": [0, ["c": URL(fileURLWithPath: "/")]] as [Any]]], "a.b[1].c"),
            ([5: 1], "5"), (["a": [5: 1] as [AnyHashable: Any]], "a.5"), (["a": Set([1])], "a"),
            (["a": NSObject()], "a"), (["a": ("x", 1)], "a"),
        ]
        for (userInfo, keyPath) in cases {
            let error = #expect(throws: DistributedNotificationError.self) { try UserInfo(userInfo) }
            #expect(error?.code == .invalidValue)
            #expect(error?.keyPath == keyPath)
        }
    }

    @Test("a dictionary of Foundation comes back with Swift's types")
    func back() throws {
        let info: UserInfo = [
            "i": 1, "d": 1.0, "b": true, "n": UserInfoValue.null, "a": [1, 2], "m": ["k": "v"],
        ]
        let dictionary = info.dictionary
        #expect(dictionary["i"] as? Int == 1)
        #expect(dictionary["d"] as? Double == 1)
        #expect(dictionary["b"] as? Bool == true)
        #expect(dictionary["n"] is NSNull)
        #expect(dictionary["a"] as? [Int] == [1, 2])
        #expect(dictionary["m"] as? [String: String] == ["k": "v"])
        #expect(try UserInfo(dictionary) == info)
    }

    @Test("typed reads are exact")
    func typedReads() throws {
        let info: UserInfo = [
            "five": 5, "fiveD": 5.0, "half": 0.5, "true": true, "big": UInt64.max, "text": "x",
            "list": [1, 2],
            "tenth": 0.1, "null": UserInfoValue.null, "beyond": 9_007_199_254_740_993,
        ]
        #expect(info["five"] as Int? == 5)
        #expect(info["fiveD"] as Int? == 5)
        #expect(info["five"] as Double? == 5)
        #expect(info["half"] as Int? == nil)
        #expect(info["half"] as Float? == 0.5)
        #expect(info["tenth"] as Float? == nil)
        #expect(info["true"] as Int? == nil)
        #expect(info["five"] as Bool? == nil)
        #expect(info["big"] as Int? == nil)
        #expect(info["big"] as UInt64? == .max)
        #expect(info["five"] as Int8? == 5)
        #expect(info["beyond"] as Double? == nil)
        #expect(info["text"] as Color? == nil)
        #expect(info["list"] as [Int]? == [1, 2])
        #expect(info["list"] as [String]? == nil)
        #expect(info["missing"] as Int? == nil)
        #expect(info["five", as: Int?.self] == .some(.some(5)))
        #expect(info["null", as: Int?.self] == .some(.none))
        #expect(try info.value(for: "five", as: Int.self) == 5)
        let error = #expect(throws: DistributedNotificationError.self) {
            try info.value(for: "text", as: Int.self)
        }
        #expect(error?.code == .undecodable)
        #expect(error?.keyPath == "text")
        #expect(info["five"] == .uint(5))
        #expect(UserInfoValue.uint(5).hashValue == UserInfoValue.int(5).hashValue)
    }
}
