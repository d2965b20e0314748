import WireProtocol

/// One distinct glob and its observers.
final class Glob {
    let text: [UInt8]
    let pattern: NamePattern
    let observers = ObserverGroup()
    /// Whether every name matches that begins, or ends, as the glob does.
    let isAnchorOnly: Bool

    init(text: [UInt8], pattern: NamePattern) {
        self.text = text
        self.pattern = pattern
        isAnchorOnly = pattern.isOneRun && (pattern.prefix.isEmpty || pattern.suffix.isEmpty)
    }
}

/// Finds the globs that match a name without trying them all.
///
/// A glob is filed under the literal text that it begins with, or else the one that it ends with. A name is hashed once from
/// either end; only where a filed text of that very length exists is the table asked. Globs that begin and end with a
/// wild card are few, and are tried one by one.
final class GlobIndex {
    private final class Bucket {
        // SAFETY: it is not read or changed while it is being changed.
        @exclusivity(unchecked) var globs: [Glob] = []
    }

    /// The globs that are filed under one end of theirs.
    private final class Anchored {
        let table = ByteTable<Bucket>()
        // SAFETY: one for each length that a glob can have.
        /// How many globs are filed under a text of each length.
        let lengths: UnsafeMutablePointer<Int>
        private(set) var longest = 0

        init() {
            lengths = .allocate(capacity: Limits.patternBytes + 1)
            lengths.initialize(repeating: 0, count: Limits.patternBytes + 1)
        }

        deinit {
            lengths.deallocate()
        }

        func file(_ glob: Glob, under text: [UInt8], hash: UInt64) {
            text.withUnsafeBytes { bytes in
                if let bucket = table.value(bytes, hash: hash) {
                    bucket.globs.append(glob)
                } else {
                    let bucket = Bucket()
                    bucket.globs.append(glob)
                    table.insert(bytes, hash: hash, bucket)
                }
            }
            lengths[text.count] += 1
            longest = max(longest, text.count)
        }

        func unfile(_ glob: Glob, under text: [UInt8], hash: UInt64) {
            text.withUnsafeBytes { bytes in
                guard let bucket = table.value(bytes, hash: hash) else { return }
                bucket.globs.removeAll { $0 === glob }
                if bucket.globs.isEmpty { table.remove(bytes, hash: hash) }
            }
            lengths[text.count] -= 1
            while longest > 0, lengths[longest] == 0 { longest -= 1 }
        }

        /// Calls with those of the globs under a text that match a name.
        @inline(__always)
        func forEachMatch(
            _ text: UnsafeRawBufferPointer, hash: UInt64, _ name: UnsafeRawBufferPointer,
            _ body: (Glob) -> Void
        ) {
            table.lookUp(text, hash: hash)?._withUnsafeGuaranteedRef { bucket in
                for glob in bucket.globs where glob.isAnchorOnly || glob.pattern.matches(name) { body(glob) }
            }
        }
    }

    private let hash: ByteHash
    private let byPrefix = Anchored()
    private let bySuffix = Anchored()
    // SAFETY: it is not read or changed while it is being changed.
    @exclusivity(unchecked) private var unanchored: [Glob] = []

    init(hash: ByteHash) {
        self.hash = hash
    }

    private func rollingHash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(UInt64(0)) { hash.extend($0, by: $1) }
    }

    func insert(_ glob: Glob) {
        if !glob.pattern.prefix.isEmpty {
            byPrefix.file(glob, under: glob.pattern.prefix, hash: rollingHash(glob.pattern.prefix))
        } else if !glob.pattern.suffix.isEmpty {
            let suffix = glob.pattern.suffix
            bySuffix.file(glob, under: suffix, hash: rollingHash(suffix.reversed()))
        } else {
            unanchored.append(glob)
        }
    }

    func remove(_ glob: Glob) {
        if !glob.pattern.prefix.isEmpty {
            byPrefix.unfile(glob, under: glob.pattern.prefix, hash: rollingHash(glob.pattern.prefix))
        } else if !glob.pattern.suffix.isEmpty {
            let suffix = glob.pattern.suffix
            bySuffix.unfile(glob, under: suffix, hash: rollingHash(suffix.reversed()))
        } else {
            unanchored.removeAll { $0 === glob }
        }
    }

    /// Calls with each glob that matches a name.
    @inline(__always)
    func forEachMatch(of name: UnsafeRawBufferPointer, _ body: (Glob) -> Void) {
        guard let start = name.baseAddress else { return }
        let hash = hash
        var rolling: UInt64 = 0
        var lengths = byPrefix.lengths
        let longestPrefix = min(name.count, byPrefix.longest)
        var length = 0
        while length < longestPrefix {
            rolling = hash.extend(rolling, by: start.load(fromByteOffset: length, as: UInt8.self))
            length &+= 1
            if lengths[length] == 0 { continue }
            byPrefix.forEachMatch(
                UnsafeRawBufferPointer(start: start, count: length), hash: rolling, name, body)
        }
        rolling = 0
        lengths = bySuffix.lengths
        let longestSuffix = min(name.count, bySuffix.longest)
        length = 0
        while length < longestSuffix {
            length &+= 1
            let end = start + (name.count &- length)
            rolling = hash.extend(rolling, by: end.load(as: UInt8.self))
            if lengths[length] == 0 { continue }
            bySuffix.forEachMatch(
                UnsafeRawBufferPointer(start: end, count: length), hash: rolling, name, body)
        }
        for glob in unanchored where glob.pattern.matches(name) { body(glob) }
    }
}
