/// The first byte from here on that is no white space, or the end.
@inline(always)
func skippingSpace(
    from start: UnsafePointer<UInt8>, to end: UnsafePointer<UInt8>
) -> UnsafePointer<UInt8> {
    var position = start
    while position < end, position.pointee <= 0x20 {
        let byte = position.pointee
        guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { break }
        position += 1
    }
    return position
}

/// The closing quote of a string of plain ASCII; nil if the string has anything else.
@inline(always)
func plainEnd(
    from start: UnsafePointer<UInt8>, to end: UnsafePointer<UInt8>
) -> UnsafePointer<UInt8>? {
    var position = start
    while end - position >= 8 {
        let word = UInt64(littleEndian: UnsafeRawPointer(position).loadUnaligned(as: UInt64.self))
        let special = specialBytes(word)
        if special == 0 {
            position += 8
            if end - position >= 64 { position = skippingPlain(from: position, to: end) }
            continue
        }
        position += special.trailingZeroBitCount >> 3
        return position.pointee == 0x22 ? position : nil
    }
    while position < end {
        let byte = position.pointee
        if byte == 0x22 { return position }
        if byte < 0x20 || byte >= 0x80 || byte == 0x5C { return nil }
        position += 1
    }
    return nil
}

/// The end of an object with nothing but strings of plain ASCII, and no white space between them, as most userInfos are; nil for
/// any other.
@inline(always)
func plainObjectEnd(
    from start: UnsafePointer<UInt8>, to end: UnsafePointer<UInt8>
) -> UnsafePointer<UInt8>? {
    guard start < end, start.pointee == 0x7B else { return nil }
    var here = start + 1
    while true {
        guard here < end, here.pointee == 0x22, let quote = plainEnd(from: here + 1, to: end),
            end - quote > 3, quote[1] == 0x3A, quote[2] == 0x22,
            let last = plainEnd(from: quote + 3, to: end), end - last > 1
        else { return nil }
        here = last + 2
        if last[1] == 0x7D { return here }
        if last[1] != 0x2C { return nil }
    }
}

/// Goes over plain ASCII 64 bytes at a time, and stops at most 64 bytes before what else comes.
@inline(always)
func skippingPlain(
    from start: UnsafePointer<UInt8>, to end: UnsafePointer<UInt8>
) -> UnsafePointer<UInt8> {
    var position = start
    while end - position >= 64 {
        let marks =
            (marksOfSpecial(position) .| marksOfSpecial(position + 16))
            .| (marksOfSpecial(position + 32) .| marksOfSpecial(position + 48))
        let halves = unsafeBitCast(marks, to: SIMD2<UInt64>.self)
        if halves.x | halves.y != 0 { break }
        position += 64
    }
    return position
}

/// Marks, among 16 bytes, those that a string's scan must look at.
@inline(always)
private func marksOfSpecial(_ position: UnsafePointer<UInt8>) -> SIMDMask<SIMD16<Int8>> {
    // Compared with vectors, not scalars: only that comes out as vector instructions.
    let quote = SIMD16<Int8>(repeating: 0x22)
    let backslash = SIMD16<Int8>(repeating: 0x5C)
    let space = SIMD16<Int8>(repeating: 0x20)
    let bytes = UnsafeRawPointer(position).loadUnaligned(as: SIMD16<Int8>.self)
    // As signed bytes, all outside ASCII are below the space too.
    return (bytes .== quote) .| (bytes .== backslash) .| (bytes .< space)
}

/// Marks the bytes that a string's scan must look at: quotes, backslashes, control characters, and all outside ASCII.
/// Borrows run upwards, so the lowest mark is exact.
@inline(always)
func specialBytes(_ word: UInt64) -> UInt64 {
    let quote = word ^ 0x2222_2222_2222_2222
    let backslash = word ^ 0x5C5C_5C5C_5C5C_5C5C
    let low: UInt64 = 0x0101_0101_0101_0101
    let found =
        ((quote &- low) & ~quote) | ((backslash &- low) & ~backslash)
        | ((word &- 0x2020_2020_2020_2020) & ~word) | word
    return found & 0x8080_8080_8080_8080
}

/// Marks control characters. Borrows run upwards, so the lowest mark is exact.
@inline(always)
func controlBytes(_ word: UInt64) -> UInt64 {
    let delete = word ^ 0x7F7F_7F7F_7F7F_7F7F
    let found =
        ((word &- 0x2020_2020_2020_2020) & ~word) | ((delete &- 0x0101_0101_0101_0101) & ~delete)
    return found & 0x8080_8080_8080_8080
}
