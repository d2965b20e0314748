import WireProtocol

/// What the router knows of one name: who observes it, and which globs match it.
final class NameEntry {
    let name: [UInt8]
    let hash: UInt64
    let observers = ObserverGroup()
    /// The globs that match; nil until somebody asked.
    var globs: [Glob]? {
        didSet { globCount = globs.map { $0.count } ?? -1 }
    }
    /// How many those are, -1 if nobody asked: what a post looks at first.
    private(set) var globCount = -1
    /// Its place among the names whose globs are known.
    var resolvedIndex = -1
    /// Clients that wait for observers of this name.
    var awaiters: [Awaiter] = []

    init(name: [UInt8], hash: UInt64) {
        self.name = name
        self.hash = hash
    }

    /// Whether nothing but remembered globs keeps the entry.
    var isOnlyRemembered: Bool { observers.isEmpty && awaiters.isEmpty }
}

/// A request of `awaitObservers` that is not answered yet.
struct Awaiter {
    var slot: Int32
    var id: UInt64
    var object: [UInt8]?
    var count: Int
}

/// The names whose globs are known, so that a glob that comes or goes touches those names only that it may match.
///
/// The first eight bytes of each name, and the last eight, lie side by side: a glob's literal ends are compared with them
/// before a name is looked at.
struct ResolvedNames {
    /// Beyond this many they are all forgotten, and found again as they are used.
    static let capacity = 16_384

    private(set) var entries: [NameEntry] = []
    private var heads: [UInt64] = []
    private var tails: [UInt64] = []

    var isFull: Bool { entries.count >= Self.capacity }

    mutating func insert(_ entry: NameEntry) {
        entry.resolvedIndex = entries.count
        entries.append(entry)
        heads.append(Self.head(entry.name))
        tails.append(Self.head(entry.name.reversed()))
    }

    /// Forgets all, and answers them.
    mutating func removeAll() -> [NameEntry] {
        let forgotten = entries
        for entry in forgotten {
            entry.resolvedIndex = -1
            entry.globs = nil
        }
        entries.removeAll(keepingCapacity: true)
        heads.removeAll(keepingCapacity: true)
        tails.removeAll(keepingCapacity: true)
        return forgotten
    }

    /// Calls with each name that the pattern matches.
    func forEachMatch(of pattern: NamePattern, _ body: (NameEntry) -> Void) {
        let (head, headMask) = Self.headAndMask(pattern.prefix)
        let (tail, tailMask) = Self.headAndMask(pattern.suffix.reversed())
        for index in heads.indices
        where heads[index] & headMask == head && tails[index] & tailMask == tail {
            let entry = entries[index]
            if entry.name.withUnsafeBytes({ pattern.matches($0) }) { body(entry) }
        }
    }

    private static func head(_ bytes: some Collection<UInt8>) -> UInt64 {
        headAndMask(bytes).0
    }

    private static func headAndMask(_ bytes: some Collection<UInt8>) -> (UInt64, UInt64) {
        var word: UInt64 = 0
        var mask: UInt64 = 0
        for (index, byte) in bytes.prefix(8).enumerated() {
            word |= UInt64(byte) << UInt64(index * 8)
            mask |= 0xFF << UInt64(index * 8)
        }
        return (word, mask)
    }
}
