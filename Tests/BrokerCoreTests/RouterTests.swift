import TestSupport
import Testing
import WireProtocol

@testable import BrokerCore

@Suite struct RouterTests {
    private struct Observer {
        var slot: Int32
        var subject: Observation.Subject
        var object: [UInt8]?
    }

    private func receivers(_ observers: [Observer], _ name: [UInt8], _ object: [UInt8]?) -> [Int32] {
        let found = observers.filter {
            $0.subject.matches(name) && ($0.object == nil || $0.object == object)
        }
        return Set(found.map(\.slot)).sorted()
    }

    private func route(_ router: Router, _ name: [UInt8], _ object: [UInt8]?) -> [Int32] {
        name.withUnsafeBytes { name in
            let route =
                object.map { $0.withUnsafeBytes { router.route(name, object: $0) } }
                ?? router.route(name, object: nil)
            return (0..<route.count).map { route.slots[$0] }.sorted()
        }
    }

    private func pattern(_ glob: String) throws -> Observation.Subject {
        .pattern(Array(glob.utf8), try NamePattern(Array(glob.utf8)))
    }

    private static let names = [
        "a", "a.b", "a.b.c", "b", "b.c", "order.created", "order.changed", "é.x", "x.é",
    ]
    private static let globs = [
        "*", "?", "a*", "a.*", "a.b.?", "*.c", "*b*", "order.*", "order.c*d", "*.created", "?.b", "\\a.b",
        "é*",
        "*é", "????????????????*", "order.created", "a**",
    ]

    private func subject(_ random: inout SeededGenerator) throws -> Observation.Subject {
        switch random.below(7) {
        case 0: .everything
        case 1...3: .name(Array(random.pick(Self.names).utf8))
        default: try pattern(random.pick(Self.globs))
        }
    }

    private func object(_ random: inout SeededGenerator) -> [UInt8]? {
        random.oneIn(2) ? nil : Array(random.pick(["", "o", "p"]).utf8)
    }

    /// Observers come and go, and every post goes to exactly those connections that a plain search finds, each once.
    @Test(arguments: 1...20)
    func findsWhatASearchFinds(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let router = Router(seed: seed)
        var observers: [Observer] = []
        router.reserve(slots: 100)
        for round in 0..<300 {
            if observers.count < 1 + random.below(30) {
                let observer = Observer(
                    slot: Int32(random.below(100)), subject: try subject(&random), object: object(&random))
                observers.append(observer)
                router.add(observer.slot, observer.subject, object: observer.object)
            } else if random.oneIn(2) {
                let observer = observers.remove(at: random.below(observers.count))
                router.remove(observer.slot, observer.subject, object: observer.object)
            }
            for _ in 0..<3 {
                let name = random.oneIn(4) ? "order.\(random.below(1 << 30))" : random.pick(Self.names)
                let object = object(&random)
                for _ in 0...random.below(3) {
                    try #require(
                        route(router, Array(name.utf8), object)
                            == receivers(observers, Array(name.utf8), object),
                        "seed \(seed) round \(round): \(name)")
                }
            }
        }
        for observer in observers { router.remove(observer.slot, observer.subject, object: observer.object) }
        for name in Self.names { #expect(route(router, Array(name.utf8), [0x6F]).isEmpty, "seed \(seed)") }
    }

    /// More names than are remembered: those forgotten are found again, and globs that came meanwhile hold for all.
    @Test func moreNamesThanAreRemembered() throws {
        let router = Router(seed: 3)
        let names = (0..<ResolvedNames.capacity + 3000).map { Array("n\($0).x".utf8) }
        var observers = [
            Observer(slot: 1, subject: try pattern("n1*"), object: nil),
            Observer(slot: 2, subject: .name(names[5]), object: nil),
            Observer(slot: 3, subject: try pattern("*7.x"), object: nil),
        ]
        for observer in observers { router.add(observer.slot, observer.subject, object: nil) }
        for name in names {
            for _ in 0..<2 { _ = route(router, name, nil) }
        }
        let late = Observer(slot: 4, subject: try pattern("n*5.x"), object: nil)
        router.add(late.slot, late.subject, object: nil)
        observers.append(late)
        for index in stride(from: 0, to: names.count, by: 37) {
            #expect(route(router, names[index], nil) == receivers(observers, names[index], nil))
        }
        router.remove(1, observers[0].subject, object: nil)
        observers.removeFirst()
        for index in stride(from: 0, to: names.count, by: 41) {
            #expect(route(router, names[index], nil) == receivers(observers, names[index], nil))
        }
    }

    @Test func onlyNamesThatWereCheckedAreKnown() {
        let router = Router(seed: 1)
        func isKnown(_ name: [UInt8]) -> Bool {
            name.withUnsafeBytes { router.route($0, object: nil).nameIsKnown }
        }
        #expect(!isKnown([0x61]) && isKnown([0x61]))
        for _ in 0..<3 {
            #expect(!isKnown([]) && !isKnown([1]) && !isKnown([UInt8](repeating: 0x61, count: 256)))
        }
        router.add(0, .name([0x62]), object: nil)
        #expect(isKnown([0x62]))
    }

    @Test func slotsBeyondTheFirstRoom() {
        let router = Router(seed: 1)
        for slot in 0..<Int32(1000) {
            router.reserve(slots: Int(slot) + 1)
            router.add(slot, slot % 2 == 0 ? .everything : .name([0x61]), object: nil)
            #expect(route(router, [0x61], nil).count == Int(slot) + 1)
        }
    }

    /// Those who wait for observers are answered when there are as many as they want, with the number; those who leave
    /// are not.
    @Test(arguments: 1...20)
    func awaitersAreServedInTime(seed: UInt64) throws {
        struct Waiting {
            var slot: Int32
            var id: UInt64
            var name: [UInt8]
            var object: [UInt8]?
            var count: Int
        }
        var random = SeededGenerator(seed: seed)
        let router = Router(seed: seed)
        var observers: [Observer] = []
        var waiting: [Waiting] = []
        for id in 0..<UInt64(400) {
            switch random.below(6) {
            case 0, 1:
                let next = Waiting(
                    slot: Int32(random.below(8)), id: id, name: Array(random.pick(Self.names).utf8),
                    object: object(&random), count: 1 + random.below(8))
                let present = router.receivers(next.name, object: next.object)
                #expect(present == receivers(observers, next.name, next.object).count)
                guard present < next.count else { continue }
                waiting.append(next)
                router.wait(
                    Awaiter(slot: next.slot, id: id, object: next.object, count: next.count), for: next.name)
            case 2:
                let slot = Int32(random.below(8))
                waiting.removeAll { $0.slot == slot }
                router.removeAwaiters(of: slot)
            case 3 where !observers.isEmpty:
                let observer = observers.remove(at: random.below(observers.count))
                router.remove(observer.slot, observer.subject, object: observer.object)
            default:
                let observer = Observer(
                    slot: Int32(random.below(20)), subject: try subject(&random), object: object(&random))
                observers.append(observer)
                router.add(observer.slot, observer.subject, object: observer.object)
                let taken = router.takeSatisfied(by: observer.subject)
                let wanted = waiting.compactMap { one -> String? in
                    let count = receivers(observers, one.name, one.object).count
                    return count >= one.count ? "\(one.id): \(count)" : nil
                }
                #expect(
                    taken.map { "\($0.awaiter.id): \($0.receivers)" }.sorted() == wanted.sorted(),
                    "seed \(seed)")
                waiting.removeAll { one in taken.contains { $0.awaiter.id == one.id } }
            }
        }
    }
}

@Suite struct GlobIndexTests {
    @Test(arguments: 1...10)
    func findsWhatTryingAllFinds(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let index = GlobIndex(hash: ByteHash(seed: seed))
        var globs: [Glob] = []
        let parts = ["a", "b", "ab", "abababab", "*", "?", "\\*", "é"]
        for round in 0..<500 {
            if globs.count < 3 || random.oneIn(2) {
                let text = Array((0...random.below(5)).map { _ in random.pick(parts) }.joined().utf8)
                let glob = Glob(text: text, pattern: try NamePattern(text))
                globs.append(glob)
                index.insert(glob)
            } else {
                index.remove(globs.remove(at: random.below(globs.count)))
            }
            let name = Array(
                (0..<random.below(6)).map { _ in random.pick(["a", "b", "abababab", "é", "*"]) }.joined().utf8
            )
            name.withUnsafeBytes { bytes in
                var found: [Glob] = []
                index.forEachMatch(of: bytes) { found.append($0) }
                let wanted = globs.filter { $0.pattern.matches(bytes) }
                #expect(
                    Set(found.map(ObjectIdentifier.init)) == Set(wanted.map(ObjectIdentifier.init)),
                    "seed \(seed) round \(round)")
                #expect(found.count == wanted.count)
            }
        }
    }

    @Test func theLongestGlobs() throws {
        let index = GlobIndex(hash: ByteHash(seed: 1))
        let text = [UInt8](repeating: 0x61, count: 255)
        for glob in [text, [0x2A] + text.dropLast(), text.dropLast() + [0x2A]] {
            index.insert(Glob(text: glob, pattern: try NamePattern(glob)))
        }
        for (count, matches) in [(253, 0), (254, 2), (255, 3), (256, 2), (5000, 2)] {
            var found: [Glob] = []
            [UInt8](repeating: 0x61, count: count).withUnsafeBytes {
                index.forEachMatch(of: $0) { found.append($0) }
            }
            #expect(found.count == matches, "\(count)")
        }
    }
}
