/// Option values as numbers. Strict: nothing but what the help promises, and no overflow.
package enum OptionValue {
    /// Digits, nothing else.
    package static func count(_ bytes: [UInt8]) -> Int? {
        digits(bytes[...], radix: 10).flatMap(Int.init(exactly:))
    }

    /// Digits, and K, M or G for powers of 1024.
    package static func byteCount(_ bytes: [UInt8]) -> Int? {
        let shift: UInt64
        switch bytes.last {
        case UInt8(ascii: "K"), UInt8(ascii: "k"): shift = 10
        case UInt8(ascii: "M"), UInt8(ascii: "m"): shift = 20
        case UInt8(ascii: "G"), UInt8(ascii: "g"): shift = 30
        default: shift = 0
        }
        guard let number = digits(shift == 0 ? bytes[...] : bytes.dropLast(), radix: 10) else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: 1 << shift)
        return overflow ? nil : Int(exactly: product)
    }

    /// Digits with decimals: `5`, `0.5`, `.5`, `5.`. More than a billion seconds are a billion: a deadline can be
    /// reckoned with it, and nobody will see it pass.
    package static func seconds(_ bytes: [UInt8]) -> Duration? {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.contains(where: { !$0.isEmpty }),
            parts.allSatisfy({ $0.allSatisfy(isDigit) })
        else { return nil }
        let longest: UInt64 = 1_000_000_000
        let whole = parts[0].isEmpty ? 0 : digits(parts[0], radix: 10) ?? longest
        guard whole < longest else { return .seconds(longest) }
        var nanoseconds: UInt64 = 0
        var unit: UInt64 = 100_000_000
        for digit in parts.dropFirst().joined().prefix(9) {
            nanoseconds += UInt64(digit - UInt8(ascii: "0")) * unit
            unit /= 10
        }
        // What is less than a nanosecond is not nothing: 0 may mean never.
        let hasRest = parts.dropFirst().joined().contains { $0 != UInt8(ascii: "0") }
        if whole == 0, nanoseconds == 0, hasRest { nanoseconds = 1 }
        return .seconds(whole) + .nanoseconds(nanoseconds)
    }

    /// Permission bits in octal.
    package static func mode(_ bytes: [UInt8]) -> UInt32? {
        digits(bytes[...], radix: 8).flatMap { $0 <= 0o777 ? UInt32($0) : nil }
    }

    /// Any uid but -1, which stands for none.
    package static func userID(_ bytes: [UInt8]) -> UInt32? {
        digits(bytes[...], radix: 10).flatMap { $0 < UInt64(UInt32.max) ? UInt32($0) : nil }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    private static func digits(_ bytes: ArraySlice<UInt8>, radix: Int) -> UInt64? {
        guard !bytes.isEmpty, bytes.allSatisfy(isDigit) else { return nil }
        return UInt64(String(decoding: bytes, as: UTF8.self), radix: radix)
    }
}

/// Fails where `bytes` are no UTF-8, with the place.
package func checkUTF8(_ bytes: [UInt8], in place: String, else status: ExitStatus) throws(Failure) {
    guard let offset = firstInvalidUTF8(in: bytes) else { return }
    throw Failure(status, "\(place) is not UTF-8 (at byte \(offset))")
}

/// Where the first byte stands that is no UTF-8; nil if all are.
package func firstInvalidUTF8(in bytes: [UInt8]) -> Int? {
    do {
        _ = try UTF8Span(validating: bytes.span)
        return nil
    } catch {
        return error.byteOffsets.lowerBound
    }
}
