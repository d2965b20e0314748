/// A position in a JSON text, and the complete grammar of RFC 8259 on it.
///
/// Every method starts at a value's first byte and moves behind its last one, or answers false and leaves the first
/// fault in `fault`. It makes nothing of what it reads: no strings, no numbers, no allocation.
struct JSONCursor {
    // SAFETY: `position` never passes `end`; wide loads check that eight bytes are left.
    var position: UnsafePointer<UInt8>
    let start: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    let depthLimit: Int
    var fault: JSONFault?
    /// Whether the string that was read last has an escape.
    var sawEscape = false

    init(_ text: UnsafeRawBufferPointer, depthLimit: Int) {
        let bytes = text.assumingMemoryBound(to: UInt8.self)
        // SAFETY: an empty text may have no address; any that is not zero will do for a pointer that is never read.
        start = bytes.baseAddress ?? UnsafePointer(bitPattern: 16).unsafelyUnwrapped
        position = start
        end = start + bytes.count
        self.depthLimit = depthLimit
    }

    @inline(always) var offset: Int { position - start }
    @inline(always) var atEnd: Bool { position == end }

    /// The fault that made a method answer false.
    var firstFault: JSONFault { fault ?? JSONFault(.invalid, at: offset, .value) }

    @inline(never)
    mutating func fail(_ kind: JSONFault.Kind, _ detail: JSONFault.StaticDetail, at offset: Int? = nil)
        -> Bool
    {
        fault = JSONFault(kind, at: offset ?? self.offset, detail)
        return false
    }

    /// What is at the position is not what the grammar wants: says whether the text ends, the byte is no UTF-8, or it is
    /// just wrong.
    @inline(never)
    mutating func failHere(_ detail: JSONFault.StaticDetail) -> Bool {
        if atEnd { return fail(.invalid, .end) }
        if position.pointee >= 0x80 {
            let here = position
            let valid = scalar()
            position = here
            if !valid { return false }
        }
        return fail(.invalid, detail)
    }

    @inline(always)
    mutating func skipSpace() {
        while position < end {
            let byte = position.pointee
            if byte > 0x20 || !(byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09) { return }
            position += 1
        }
    }

    /// A string, from behind its opening quote to behind its closing one.
    @inline(always)
    mutating func string() -> Bool {
        sawEscape = false
        if let quote = plainEnd(from: position, to: end) {
            position = quote + 1
            return true
        }
        return unusualString()
    }

    /// A string with escapes, characters outside ASCII, or a fault.
    @inline(never)
    mutating func unusualString() -> Bool {
        while true {
            while end - position >= 8 {
                let word = UInt64(littleEndian: UnsafeRawPointer(position).loadUnaligned(as: UInt64.self))
                let special = specialBytes(word)
                if special == 0 {
                    position += 8
                    if end - position >= 64 { position = skippingPlain(from: position, to: end) }
                    continue
                }
                position += special.trailingZeroBitCount >> 3
                break
            }
            guard position < end else { return fail(.invalid, .end) }
            let byte = position.pointee
            if byte == 0x22 {
                position += 1
                return true
            }
            if byte == 0x5C {
                sawEscape = true
                if !escape() { return false }
            } else if byte >= 0x80 {
                if !scalars() { return false }
            } else if byte < 0x20 {
                return fail(.invalid, .control)
            } else {
                position += 1
            }
        }
    }

    /// An escape sequence; a high surrogate takes its low one with it.
    private mutating func escape() -> Bool {
        let first = offset
        position += 1
        guard position < end else { return fail(.invalid, .end) }
        switch position.pointee {
        case 0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74:
            position += 1
            return true
        case 0x75:
            position += 1
            guard let unit = hexadecimal() else { return false }
            if unit & 0xF800 != 0xD800 { return true }
            guard unit < 0xDC00, end - position >= 2, position[0] == 0x5C, position[1] == 0x75 else {
                if unit < 0xDC00, atEnd { return fail(.invalid, .end) }
                return fail(.invalid, .surrogate, at: first)
            }
            position += 2
            guard let second = hexadecimal() else { return false }
            return second & 0xFC00 == 0xDC00 || fail(.invalid, .surrogate, at: first)
        default:
            return failHere(.escape)
        }
    }

    private mutating func hexadecimal() -> UInt32? {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard position < end, let digit = hexadecimalDigit(position.pointee) else {
                _ = failHere(.hex)
                return nil
            }
            unit = unit << 4 | digit
            position += 1
        }
        return unit
    }

    /// A run of characters outside ASCII.
    private mutating func scalars() -> Bool {
        while position < end, position.pointee >= 0x80 {
            if !scalar() { return false }
        }
        return true
    }

    /// One character outside ASCII, in its shortest form and no surrogate.
    private mutating func scalar() -> Bool {
        let lead = position.pointee
        let left = end - position
        let length: Int
        var lowest: UInt8 = 0x80
        var highest: UInt8 = 0xBF
        switch lead {
        case 0xC2...0xDF: length = 2
        case 0xE0:
            length = 3
            lowest = 0xA0
        case 0xED:
            length = 3
            highest = 0x9F
        case 0xE1...0xEF: length = 3
        case 0xF0:
            length = 4
            lowest = 0x90
        case 0xF4:
            length = 4
            highest = 0x8F
        case 0xF1...0xF3: length = 4
        default: return fail(.utf8, .byte)
        }
        guard left >= 2, position[1] >= lowest, position[1] <= highest else { return fail(.utf8, .byte) }
        for index in 2..<max(length, 2) {
            guard left > index, position[index] & 0xC0 == 0x80 else { return fail(.utf8, .byte) }
        }
        position += length
        return true
    }

    mutating func number() -> Bool {
        if position.pointee == 0x2D { position += 1 }
        guard position < end else { return fail(.invalid, .end) }
        if position.pointee == 0x30 {
            position += 1
        } else if !digits() {
            return false
        }
        if position < end, position.pointee == 0x2E {
            position += 1
            if !digits() { return false }
        }
        if position < end, position.pointee | 0x20 == 0x65 {
            position += 1
            if position < end, position.pointee == 0x2B || position.pointee == 0x2D { position += 1 }
            if !digits() { return false }
        }
        return true
    }

    private mutating func digits() -> Bool {
        guard position < end, position.pointee &- 0x30 < 10 else { return failHere(.number) }
        repeat { position += 1 } while position < end && position.pointee &- 0x30 < 10
        return true
    }

    private mutating func literal(_ text: StaticString) -> Bool {
        let letters = text.utf8Start
        for index in 0..<text.utf8CodeUnitCount {
            guard position < end, position.pointee == letters[index] else { return failHere(.literal) }
            position += 1
        }
        return true
    }

    /// A value that is no container.
    private mutating func scalarValue(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x22:
            position += 1
            return string()
        case 0x2D, 0x30...0x39: return number()
        case 0x74: return literal("true")
        case 0x66: return literal("false")
        case 0x6E: return literal("null")
        default: return failHere(.value)
        }
    }

    /// Any value. `level` containers are open around it.
    mutating func value(level: Int) -> Bool {
        guard position < end else { return fail(.invalid, .end) }
        let byte = position.pointee
        if byte == 0x7B || byte == 0x5B { return container(level: level) }
        return scalarValue(byte)
    }

    /// An object or an array with all that is in it; without recursion, so that no text can exhaust the stack.
    ///
    /// The usual case is walked on a pointer of its own, which the compiler keeps in a register.
    mutating func container(level: Int) -> Bool {
        let end = end
        var here = position
        var open = OpenContainers()
        // At a container's opening byte.
        while true {
            let isObject = here.pointee == 0x7B
            guard level &+ open.count < depthLimit else { return fail(.tooDeep, .depth, at: here - start) }
            open.push(isObject: isObject)
            here = skippingSpace(from: here + 1, to: end)
            var isAtOpening = false
            if here < end, here.pointee == (isObject ? 0x7D : 0x5D) {
                here += 1
                open.pop()
            } else if !element(&here, inObject: isObject, &isAtOpening) {
                return false
            }
            // Behind a value, or behind a closed container.
            while !isAtOpening, open.count > 0 {
                here = skippingSpace(from: here, to: end)
                let inObject = open.innermostIsObject
                guard here < end else { return fail(.invalid, .end, at: here - start) }
                let byte = here.pointee
                if byte == 0x2C {
                    here = skippingSpace(from: here + 1, to: end)
                    if !element(&here, inObject: inObject, &isAtOpening) { return false }
                } else if byte == (inObject ? 0x7D : 0x5D) {
                    here += 1
                    open.pop()
                } else {
                    position = here
                    return failHere(inObject ? .commaOrBrace : .commaOrBracket)
                }
            }
            if !isAtOpening {
                position = here
                return true
            }
        }
    }

    /// A member or an element, wholly if its value is no container, else up to the container's opening byte.
    @inline(always)
    private mutating func element(
        _ here: inout UnsafePointer<UInt8>, inObject: Bool, _ isAtOpening: inout Bool
    ) -> Bool {
        if inObject {
            if here < end, here.pointee == 0x22, let quote = plainEnd(from: here + 1, to: end),
                quote + 1 < end, quote[1] == 0x3A
            {
                here = skippingSpace(from: quote + 2, to: end)
            } else {
                position = here
                guard memberName() else { return false }
                here = position
            }
        }
        guard here < end else { return fail(.invalid, .end, at: here - start) }
        let byte = here.pointee
        if byte == 0x22, let quote = plainEnd(from: here + 1, to: end) {
            here = quote + 1
            isAtOpening = false
            return true
        }
        isAtOpening = byte == 0x7B || byte == 0x5B
        if isAtOpening { return true }
        position = here
        guard scalarValue(byte) else { return false }
        here = position
        return true
    }

    /// A member's name and its colon, up to the value's first byte.
    @inline(never)
    private mutating func memberName() -> Bool {
        guard position < end, position.pointee == 0x22 else { return failHere(.key) }
        position += 1
        if !string() { return false }
        return colon()
    }

    @inline(always)
    mutating func colon() -> Bool {
        if position < end, position.pointee == 0x3A {
            position += 1
        } else {
            skipSpace()
            guard position < end, position.pointee == 0x3A else { return failHere(.colon) }
            position += 1
        }
        skipSpace()
        return true
    }
}

extension FieldSpan.Kind {
    /// The kind of a value by its first byte; whether a string has escapes shows later.
    @inline(always)
    init(firstByte byte: UInt8) {
        switch byte {
        case 0x22: self = .string
        case 0x7B: self = .object
        case 0x5B: self = .array
        case 0x74: self = .yes
        case 0x66: self = .no
        case 0x6E: self = .null
        default: self = .number
        }
    }
}

@inline(always)
func hexadecimalDigit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case 0x30...0x39: UInt32(byte - 0x30)
    case 0x41...0x46: UInt32(byte - 0x37)
    case 0x61...0x66: UInt32(byte - 0x57)
    default: nil
    }
}
