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
/// either end, and the table is asked for each length that a filed text has. Globs that begin and end with a
/// wild card are few, and are tried one by one.
final class GlobIndex {
    /// The globs that are filed under one end of theirs.
    private final class Anchored {
        private let table = ByteTable<GlobList>()
        /// How many globs are filed under a text of each length.
        private var counts = [Int](repeating: 0, count: Limits.patternBytes + 1)
        // SAFETY: room for every length that a glob can have; `lengthCount` are filled.
        /// The lengths that there are, in ascending order.
        let lengths = UnsafeMutablePointer<Int>.allocate(capacity: Limits.patternBytes)
        private(set) var lengthCount = 0

        deinit {
            lengths.deallocate()
        }

        func file(_ glob: Glob, under text: [UInt8], hash: UInt64) {
            text.withUnsafeBytes { bytes in
                if let bucket = table.value(bytes, hash: hash) {
                    bucket.append(glob)
                } else {
                    let bucket = GlobList()
                    bucket.append(glob)
                    table.insert(bytes, hash: hash, bucket)
                }
            }
            counts[text.count] += 1
            if counts[text.count] == 1 { listLengths() }
        }

        func unfile(_ glob: Glob, under text: [UInt8], hash: UInt64) {
            text.withUnsafeBytes { bytes in
                guard let bucket = table.value(bytes, hash: hash) else { return }
                bucket.remove(glob)
                if bucket.isEmpty { table.remove(bytes, hash: hash) }
            }
            counts[text.count] -= 1
            if counts[text.count] == 0 { listLengths() }
        }

        private func listLengths() {
            lengthCount = 0
            for length in counts.indices where counts[length] > 0 {
                lengths[lengthCount] = length
                lengthCount += 1
            }
        }

        /// Calls with those of the globs under a text that match a name.
        @inline(__always)
        func forEachMatch(
            _ text: UnsafeRawBufferPointer, hash: UInt64, _ name: UnsafeRawBufferPointer,
            _ body: (Glob) -> Void
        ) {
            table.lookUp(text, hash: hash)?._withUnsafeGuaranteedRef { $0.forEachMatch(of: name, body) }
        }
    }

    private let hash: ByteHash
    private let byPrefix = Anchored()
    private let bySuffix = Anchored()
    private let unanchored = GlobList()

    init(hash: ByteHash) {
        self.hash = hash
    }

    func insert(_ glob: Glob) {
        if let (anchored, text, hash) = anchor(of: glob) {
            anchored.file(glob, under: text, hash: hash)
        } else {
            unanchored.append(glob)
        }
    }

    func remove(_ glob: Glob) {
        if let (anchored, text, hash) = anchor(of: glob) {
            anchored.unfile(glob, under: text, hash: hash)
        } else {
            unanchored.remove(glob)
        }
    }

    /// Where a glob is filed, and under what; nil if it begins and ends with a wild card.
    private func anchor(of glob: Glob) -> (Anchored, text: [UInt8], hash: UInt64)? {
        let (prefix, suffix) = (glob.pattern.prefix, glob.pattern.suffix)
        var growing = hash.growing
        if !prefix.isEmpty {
            let code = prefix.withUnsafeBytes { hash.hash(&growing, ofFirst: $0.count, of: $0) }
            return (byPrefix, prefix, code)
        }
        if !suffix.isEmpty {
            let code = suffix.withUnsafeBytes { hash.hash(&growing, ofLast: $0.count, of: $0) }
            return (bySuffix, suffix, code)
        }
        return nil
    }

    /// Calls with each glob that matches a name.
    @inline(__always)
    func forEachMatch(of name: UnsafeRawBufferPointer, _ body: (Glob) -> Void) {
        guard let start = name.baseAddress else { return }
        let hash = hash
        var growing = hash.growing
        for index in 0..<byPrefix.lengthCount {
            let length = byPrefix.lengths[index]
            if length > name.count { break }
            byPrefix.forEachMatch(
                UnsafeRawBufferPointer(start: start, count: length),
                hash: hash.hash(&growing, ofFirst: length, of: name), name, body)
        }
        growing = hash.growing
        for index in 0..<bySuffix.lengthCount {
            let length = bySuffix.lengths[index]
            if length > name.count { break }
            bySuffix.forEachMatch(
                UnsafeRawBufferPointer(start: start + (name.count &- length), count: length),
                hash: hash.hash(&growing, ofLast: length, of: name), name, body)
        }
        unanchored.forEachMatch(of: name, body)
    }
}
