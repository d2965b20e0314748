import TestSupport
import Testing

@testable import BrokerCore

@Suite struct ByteTableTests {
    private final class Box {
        let number: Int
        init(_ number: Int) { self.number = number }
    }

    /// The table holds what a dictionary holds, with few hashes, so that most places are taken by something else.
    @Test(arguments: 1...20, [1 as UInt64, 7, .max])
    func holdsWhatADictionaryHolds(seed: UInt64, hashes: UInt64) {
        var random = SeededGenerator(seed: seed)
        let table = ByteTable<Box>()
        var model: [[UInt8]: Int] = [:]
        let hash = ByteHash(seed: seed)
        let keys = (0..<80).map { _ in (0..<random.below(20)).map { _ in UInt8(random.below(3)) } }
        for round in 0..<600 {
            let key = random.pick(keys)
            key.withUnsafeBytes { bytes in
                let code = hash(bytes) % hashes &* 0x1_0000_0001
                if model[key] == nil, !random.oneIn(3) {
                    table.insert(bytes, hash: code, Box(round))
                    model[key] = round
                } else if random.oneIn(2) {
                    table.remove(bytes, hash: code)
                    model[key] = nil
                }
                #expect(table.value(bytes, hash: code)?.number == model[key], "seed \(seed) round \(round)")
            }
            #expect(table.count == model.count)
        }
        for key in Set(keys) {
            key.withUnsafeBytes { bytes in
                let code = hash(bytes) % hashes &* 0x1_0000_0001
                #expect(table.value(bytes, hash: code)?.number == model[key], "seed \(seed)")
            }
        }
    }

    @Test func itLetsGoOfValues() {
        weak var removed: Box?
        weak var left: Box?
        do {
            let table = ByteTable<Box>()
            let (one, two) = (Box(1), Box(2))
            (removed, left) = (one, two)
            [1].withUnsafeBytes { table.insert($0, hash: 1, one) }
            [2].withUnsafeBytes { table.insert($0, hash: 2, two) }
            [1].withUnsafeBytes { table.remove($0, hash: 1) }
        }
        #expect(removed == nil && left == nil)
    }

    /// Names that differ little, as names do, spread over the whole table.
    @Test func hashesSpread() {
        let hash = ByteHash(seed: 42)
        var low: Set<UInt64> = []
        for number in 0..<4096 {
            Array("order.\(number)".utf8).withUnsafeBytes { _ = low.insert(hash($0) & 4095) }
        }
        #expect(low.count > 2300)
    }

    /// Both ends of a text of any length, hashed further and further, have the hashes of what is there alone.
    @Test(arguments: 1...10)
    func hashesGrow(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let hash = ByteHash(seed: seed)
        for count in 0..<40 {
            let text = (0..<count).map { _ in UInt8(random.below(256)) }
            var (front, back) = (hash.growing, hash.growing)
            for length in 0...count where random.oneIn(3) {
                var (first, last) = (hash.growing, hash.growing)
                let alone = (
                    text.prefix(length).withUnsafeBytes { hash.hash(&first, ofFirst: length, of: $0) },
                    text.suffix(length).withUnsafeBytes { hash.hash(&last, ofLast: length, of: $0) }
                )
                text.withUnsafeBytes {
                    #expect(hash.hash(&front, ofFirst: length, of: $0) == alone.0, "seed \(seed)")
                    #expect(hash.hash(&back, ofLast: length, of: $0) == alone.1, "seed \(seed)")
                }
            }
        }
    }
}

@Suite struct ReceiverSetTests {
    @Test(arguments: 1...10)
    func countsAsADictionaryDoes(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let set = ReceiverSet()
        var model: [Int32: Int] = [:]
        for _ in 0..<2000 {
            let slot = Int32(random.below(40))
            if random.oneIn(2) {
                set.add(slot)
                model[slot, default: 0] += 1
            } else {
                set.remove(slot)
                model[slot] = (model[slot] ?? 0) > 1 ? (model[slot] ?? 0) - 1 : nil
            }
            let slots = (0..<set.count).map { set.slots[$0] }
            #expect(slots.sorted() == model.keys.sorted(), "seed \(seed)")
        }
    }
}
