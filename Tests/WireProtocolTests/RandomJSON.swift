import TestSupport

/// Makes JSON texts of all kinds, and spoils them.
struct RandomJSON {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private static let keys = [
        "type", "name", "userInfo", "id", "object", "x", "", "n\\u0061me", "typ\\u0065", "deliverImmediately",
        "deliverImmediatelY", "deliverImmediatel", "observers", "connectiom", "\\ud83d\\ude00", "ä",
    ]

    mutating func frame() -> [UInt8] {
        if random.oneIn(30) { return value(2) }
        return space() + object(random.below(4), keys: Self.keys) + space()
    }

    private mutating func space() -> [UInt8] {
        guard random.oneIn(4) else { return [] }
        return (0..<random.below(4)).map { _ in random.pick([0x20, 0x09, 0x0A, 0x0D]) }
    }

    private mutating func value(_ depth: Int) -> [UInt8] {
        switch random.below(depth > 0 ? 9 : 7) {
        case 0, 1: return string()
        case 2, 3: return number()
        case 4: return Array("true".utf8)
        case 5: return Array("false".utf8)
        case 6: return Array("null".utf8)
        case 7: return object(depth - 1, keys: ["a", "a", "b"])
        default:
            let items = (0..<random.below(4)).map { _ in space() + value(depth - 1) + space() }
            return [0x5B] + Array(items.joined(separator: [0x2C])) + (items.isEmpty ? space() : []) + [0x5D]
        }
    }

    private mutating func object(_ depth: Int, keys: [String]) -> [UInt8] {
        let items = (0..<random.below(5)).map { _ in
            let key = random.oneIn(3) ? string() : [0x22] + Array(random.pick(keys).utf8) + [0x22]
            return space() + key + space() + [0x3A] + space() + value(depth) + space()
        }
        return [0x7B] + Array(items.joined(separator: [0x2C])) + (items.isEmpty ? space() : []) + [0x7D]
    }

    private mutating func string() -> [UInt8] {
        let parts = [
            "a", "bc", "12345678", " ", "/", "\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t",
            "\\u0000", "\\u00e9", "\\uD83D\\uDE00", "é", "€", "😀", "\u{7F}", "\u{80}", "\u{7FF}",
            "\u{800}", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}",
        ]
        let plain = (0..<random.below(12)).map { _ in "x" }.joined()
        let rest = (0..<random.below(4)).map { _ in random.pick(parts) }.joined()
        return [0x22] + Array((plain + rest).utf8) + [0x22]
    }

    private mutating func number() -> [UInt8] {
        let parts: [[String]] = [
            ["", "", "-"], ["0", "7", "10", "1234567890123456789012"], ["", "", ".0", ".25"],
            ["", "", "e1", "E+22", "e-0"],
        ]
        return parts.flatMap { Array(random.pick($0).utf8) }
    }

    /// Changes, takes away, doubles or puts in a few bytes.
    mutating func spoil(_ text: [UInt8]) -> [UInt8] {
        let telling: [UInt8] = [
            0x22, 0x5C, 0x2C, 0x3A, 0x7B, 0x7D, 0x5B, 0x5D, 0x30, 0x2D, 0x2E, 0x65, 0x75, 0x64, 0x00, 0x1F,
            0x7F, 0x80, 0xC0, 0xC2, 0xE0, 0xED, 0xF0, 0xF4, 0xF5, 0xFF, 0xEF, 0xBB, 0xBF, 0x20, 0x0B,
        ]
        var text = text
        for _ in 0...random.below(3) where !text.isEmpty {
            let place = random.below(text.count)
            let byte = random.oneIn(3) ? UInt8(random.below(256)) : random.pick(telling)
            switch random.below(6) {
            case 0: text.remove(at: place)
            case 1: text.insert(byte, at: place)
            case 2: text = Array(text[..<place])
            case 3: text.insert(contentsOf: text[place..<min(text.count, place + 6)], at: place)
            default: text[place] = byte
            }
        }
        return text
    }
}
