import WireProtocol

/// One distinct glob and its observers.
final class Glob {
    let text: [UInt8]
    let pattern: NamePattern
    let observers = ObserverGroup()

    init(text: [UInt8], pattern: NamePattern) {
        self.text = text
        self.pattern = pattern
    }
}

/// Finds the globs that match a name without trying them all.
///
/// A glob is filed under the literal text that it begins with, or else the one that it ends with. A name is hashed once from
/// either end; only where a filed text of that very length exists is the table asked. Globs that begin and end with a
/// wild card are few, and are tried one by one.
struct GlobIndex {
    private final class Bucket {
        var globs: [Glob] = []
    }

    /// The globs that are filed under one end of theirs.
    private struct Anchored {
        var table = ByteTable<Bucket>()
        /// How many globs are filed under a text of each length.
        var lengths = [Int](repeating: 0, count: 256)
        var longest = 0
    }

    private let hash: ByteHash
    private var byPrefix = Anchored()
    private var bySuffix = Anchored()
    private var unanchored: [Glob] = []

    init(hash: ByteHash) {
        self.hash = hash
    }

    private func rollingHash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(UInt64(0)) { hash.extend($0, by: $1) }
    }

    mutating func insert(_ glob: Glob) {
        if !glob.pattern.prefix.isEmpty {
            Self.file(glob, under: glob.pattern.prefix, hash: rollingHash(glob.pattern.prefix), in: &byPrefix)
        } else if !glob.pattern.suffix.isEmpty {
            let suffix = glob.pattern.suffix
            Self.file(glob, under: suffix, hash: rollingHash(suffix.reversed()), in: &bySuffix)
        } else {
            unanchored.append(glob)
        }
    }

    mutating func remove(_ glob: Glob) {
        if !glob.pattern.prefix.isEmpty {
            Self.unfile(
                glob, under: glob.pattern.prefix, hash: rollingHash(glob.pattern.prefix), in: &byPrefix)
        } else if !glob.pattern.suffix.isEmpty {
            let suffix = glob.pattern.suffix
            Self.unfile(glob, under: suffix, hash: rollingHash(suffix.reversed()), in: &bySuffix)
        } else {
            unanchored.removeAll { $0 === glob }
        }
    }

    private static func file(_ glob: Glob, under text: [UInt8], hash: UInt64, in anchored: inout Anchored) {
        let table = anchored.table
        text.withUnsafeBytes { bytes in
            if let bucket = table.value(bytes, hash: hash) {
                bucket.globs.append(glob)
            } else {
                let bucket = Bucket()
                bucket.globs.append(glob)
                table.insert(bytes, hash: hash, bucket)
            }
        }
        anchored.lengths[text.count] += 1
        anchored.longest = max(anchored.longest, text.count)
    }

    private static func unfile(_ glob: Glob, under text: [UInt8], hash: UInt64, in anchored: inout Anchored) {
        let table = anchored.table
        text.withUnsafeBytes { bytes in
            guard let bucket = table.value(bytes, hash: hash) else { return }
            bucket.globs.removeAll { $0 === glob }
            if bucket.globs.isEmpty { table.remove(bytes, hash: hash) }
        }
        anchored.lengths[text.count] -= 1
        while anchored.longest > 0, anchored.lengths[anchored.longest] == 0 { anchored.longest -= 1 }
    }

    /// Appends the globs that match a name.
    func match(_ name: UnsafeRawBufferPointer, into found: inout [Glob]) {
        var rolling: UInt64 = 0
        for length in 1..<max(1, min(name.count, byPrefix.longest) + 1) {
            rolling = hash.extend(rolling, by: name[length - 1])
            if byPrefix.lengths[length] == 0 { continue }
            let prefix = UnsafeRawBufferPointer(rebasing: name[..<length])
            if let bucket = byPrefix.table.value(prefix, hash: rolling) {
                for glob in bucket.globs where glob.pattern.matches(name) { found.append(glob) }
            }
        }
        rolling = 0
        for length in 1..<max(1, min(name.count, bySuffix.longest) + 1) {
            rolling = hash.extend(rolling, by: name[name.count - length])
            if bySuffix.lengths[length] == 0 { continue }
            let suffix = UnsafeRawBufferPointer(rebasing: name[(name.count - length)...])
            if let bucket = bySuffix.table.value(suffix, hash: rolling) {
                for glob in bucket.globs where glob.pattern.matches(name) { found.append(glob) }
            }
        }
        for glob in unanchored where glob.pattern.matches(name) { found.append(glob) }
    }
}
