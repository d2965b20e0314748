import Foundation

/// RFC 3339 in UTC, between year 1 and 9999: `2026-11-30T01:02:04.422317505Z`.
///
/// A `Date` counts seconds in a Double, so how many digits tell two of them apart depends on how far from 2001 it
/// lies. Written are the fewest of 0, 3, 6 or 9 digits that read back as the same `Date`.
enum Timestamp {
    private static let secondsFrom1970To2001 = 978_307_200
    private static let firstSecond = -63_113_904_000  // 0001-01-01 from 2001
    private static let endSecond = 252_423_993_600  // 10000-01-01 from 2001

    static func text(of date: Date) -> String? {
        let time = date.timeIntervalSinceReferenceDate
        guard time >= Double(firstSecond), time < Double(endSecond) else { return nil }
        let floor = time.rounded(.down)
        let fraction = time - floor
        for (digits, unit) in [(0, 1), (3, 1_000), (6, 1_000_000), (9, 1_000_000_000)] {
            var seconds = Int(floor)
            var part = Int((fraction * Double(unit)).rounded())
            if part == unit {
                part = 0
                seconds += 1
            }
            guard seconds < endSecond else { continue }
            let isSame = interval(seconds: seconds, nanoseconds: part * (1_000_000_000 / unit)) == time
            if isSame || digits == 9 {
                return text(seconds: seconds, fraction: part, digits: digits)
            }
        }
        return nil
    }

    static func date(of text: String) -> Date? {
        var text = text
        return text.withUTF8 { date(of: $0) }
    }

    private static func interval(seconds: Int, nanoseconds: Int) -> Double {
        Double(seconds) + Double(nanoseconds) / 1e9
    }

    private static func text(seconds: Int, fraction: Int, digits: Int) -> String {
        let (days, second) = (seconds + secondsFrom1970To2001).quotientAndRemainderRoundingDown(by: 86_400)
        let (year, month, day) = CivilDate.fromDays(days)
        var text: [UInt8] = []
        text.reserveCapacity(30)
        func append(_ number: Int, _ width: Int) {
            var divisor = 1
            for _ in 1..<width { divisor *= 10 }
            while divisor > 0 {
                text.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
                divisor /= 10
            }
        }
        append(year, 4)
        text.append(UInt8(ascii: "-"))
        append(month, 2)
        text.append(UInt8(ascii: "-"))
        append(day, 2)
        text.append(UInt8(ascii: "T"))
        append(second / 3_600, 2)
        text.append(UInt8(ascii: ":"))
        append(second / 60 % 60, 2)
        text.append(UInt8(ascii: ":"))
        append(second % 60, 2)
        if digits > 0 {
            text.append(UInt8(ascii: "."))
            append(fraction, digits)
        }
        text.append(UInt8(ascii: "Z"))
        return String(decoding: text, as: UTF8.self)
    }

    private static func date(of text: UnsafeBufferPointer<UInt8>) -> Date? {
        guard text.count >= 20, text.count <= 30, text[text.count - 1] == UInt8(ascii: "Z") else {
            return nil
        }
        for (index, separator) in [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")]
            as [(Int, Unicode.Scalar)]
        {
            guard text[index] == UInt8(ascii: separator) else { return nil }
        }
        func number(_ range: Range<Int>) -> Int? {
            var number = 0
            for index in range {
                let digit = Int(text[index]) - Int(UInt8(ascii: "0"))
                guard digit >= 0, digit <= 9 else { return nil }
                number = number * 10 + digit
            }
            return number
        }
        guard let year = number(0..<4), year >= 1, let month = number(5..<7), let day = number(8..<10),
            (1...12).contains(month), day >= 1, day <= CivilDate.days(inMonth: month, of: year),
            let hour = number(11..<13), hour < 24, let minute = number(14..<16), minute < 60,
            let second = number(17..<19), second < 60
        else { return nil }
        var nanoseconds = 0
        if text.count > 20 {
            let digits = 20..<text.count - 1
            guard text[19] == UInt8(ascii: "."), !digits.isEmpty, let fraction = number(digits) else {
                return nil
            }
            nanoseconds = fraction
            for _ in digits.count..<9 { nanoseconds *= 10 }
        }
        let days = CivilDate.toDays(year: year, month: month, day: day)
        let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - secondsFrom1970To2001
        return Date(timeIntervalSinceReferenceDate: interval(seconds: seconds, nanoseconds: nanoseconds))
    }
}

/// The proleptic Gregorian calendar as days from 1970-01-01, counted in eras of 400 years that begin on 1 March.
private enum CivilDate {
    static func fromDays(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let (era, dayOfEra) = (days + 719_468).quotientAndRemainderRoundingDown(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    static func toDays(year: Int, month: Int, day: Int) -> Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = shiftedYear.quotientAndRemainderRoundingDown(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Int {
    fileprivate func quotientAndRemainderRoundingDown(by divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
