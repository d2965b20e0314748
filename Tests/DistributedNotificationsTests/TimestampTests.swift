import Foundation
import TestSupport
import Testing

@testable import DistributedNotifications

@Suite struct TimestampTests {
    static let written: [(Double, String)] = [
        (0.0, "2001-01-01T00:00:00Z"), (-63_113_904_000, "0001-01-01T00:00:00Z"),
        (252_423_993_599, "9999-12-31T23:59:59Z"), (0.5, "2001-01-01T00:00:00.500Z"),
        (-0.25, "2000-12-31T23:59:59.750Z"), (1e-9, "2001-01-01T00:00:00.000000001Z"),
        (1e-6, "2001-01-01T00:00:00.000001Z"), (68_169_600, "2003-03-01T00:00:00Z"),
        (-31_622_400 - 86_400, "1999-12-31T00:00:00Z"),
        (0.999_999_999_9, "2001-01-01T00:00:01.000000000Z"),
    ]

    @Test(
        "dates have the fewest digits that give the same date",
        arguments: written)
    func text(interval: Double, text: String) {
        #expect(Timestamp.text(of: Date(timeIntervalSinceReferenceDate: interval)) == text)
    }

    @Test(
        "dates outside the years 1 to 9999 have no form",
        arguments: [-63_113_904_000.001, 252_423_993_600, .signalingNaN, .infinity, -1e300])
    func outside(interval: Double) {
        #expect(Timestamp.text(of: Date(timeIntervalSinceReferenceDate: interval)) == nil)
    }

    @Test("the calendar is Foundation's", arguments: 0..<20)
    func calendar(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for _ in 0..<50 {
            // From 1600 on: before, Foundation's calendar is the Julian one.
            let date = Date(
                timeIntervalSinceReferenceDate: Double(
                    Int.random(in: -12_000_000_000...250_000_000_000, using: &generator)))
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
            let expected = String(
                format: "%04d-%02d-%02dT%02d:%02d:%02dZ", parts.year ?? 0, parts.month ?? 0, parts.day ?? 0,
                parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0)
            #expect(Timestamp.text(of: date) == expected, "seed \(seed)")
            #expect(Timestamp.date(of: expected) == date, "seed \(seed)")
        }
    }

    @Test(
        "what is no RFC 3339 in UTC is no date",
        arguments: [
            "", "2001-01-01", "2001-01-01T00:00:00", "2001-01-01T00:00:00+00:00", "2001-13-01T00:00:00Z",
            "2001-00-01T00:00:00Z", "2001-01-32T00:00:00Z", "2001-01-00T00:00:00Z", "0000-01-01T00:00:00Z",
            "2001-01-01T24:00:00Z", "2001-01-01T00:60:00Z", "2001-01-01T00:00:60Z", "2001-01-01T00:00:00.Z",
            "2001-01-01T00:00:00.1234567890Z", "2001-01-01T00:00:00,5Z", "+001-01-01T00:00:00Z",
            "2100-02-29T00:00:00Z",
            "2001-01-01t00:00:00z",
        ])
    func invalid(text: String) {
        #expect(Timestamp.date(of: text) == nil)
    }

    @Test("the example of the documentation")
    func example() throws {
        let date = try #require(Timestamp.date(of: "2026-11-30T01:02:04.422317505Z"))
        #expect(date.timeIntervalSince1970 > 1_796_000_000)
        let text = try #require(Timestamp.text(of: date))
        #expect(Timestamp.date(of: text) == date)
    }
}
