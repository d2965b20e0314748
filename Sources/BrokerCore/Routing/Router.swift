import WireProtocol

/// Finds the connections that a post goes to.
///
/// Exact names are looked up by their bytes; the globs that match a name are found once and remembered while the name is in
/// use; observers of everything stand aside. Each of these has its second level by object. A post costs the same
/// whatever the number of observers and globs that don't match.
final class Router {
    private let hash: ByteHash
    private let names = ByteTable<NameEntry>()
    private var resolved = ResolvedNames()
    private let globs: GlobIndex
    private let globsByText = ByteTable<Glob>()
    private let everything = ObserverGroup()
    /// The hashes of names that were looked up lately without being known: who comes twice is remembered.
    private let seenOnce = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: 4096)

    // SAFETY: `targets` has room for a slot of every connection; `marks` has one for each.
    private var targets: UnsafeMutablePointer<Int32>
    private var marks: UnsafeMutablePointer<UInt64>
    private var capacity = 64
    private var mark: UInt64 = 0

    init(seed: UInt64) {
        hash = ByteHash(seed: seed)
        globs = GlobIndex(hash: hash)
        seenOnce.initialize(repeating: 0)
        targets = .allocate(capacity: capacity)
        marks = .allocate(capacity: capacity)
        marks.initialize(repeating: 0, count: capacity)
    }

    deinit {
        targets.deallocate()
        marks.deallocate()
        seenOnce.deallocate()
    }

    /// Makes room for connections with slots below `count`.
    func reserve(slots count: Int) {
        guard count > capacity else { return }
        version &+= 1
        let grown = max(count, capacity * 2)
        targets.deallocate()
        targets = .allocate(capacity: grown)
        let more = UnsafeMutablePointer<UInt64>.allocate(capacity: grown)
        more.initialize(repeating: 0, count: grown)
        more.update(from: marks, count: capacity)
        marks.deallocate()
        marks = more
        capacity = grown
    }

    /// The slots of the connections that a notification goes to. Valid until the router is used again.
    struct Route {
        var slots: UnsafePointer<Int32>
        var count: Int
        /// Whether the name's bytes were checked before, when its entry was made.
        var nameIsKnown: Bool

        static var none: Route {
            Route(slots: UnsafePointer(nobody), count: 0, nameIsKnown: false)
        }

        // SAFETY: it is never read nor written, since the count beside it is 0: any address does.
        private nonisolated(unsafe) static let nobody = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    }

    /// Changes whenever a route found earlier may not hold any more.
    private(set) var version: UInt64 = 0

    /// Finds the receivers of a name that may be none at all: if `nameIsKnown` is false the caller checks it.
    func route(_ name: UnsafeRawBufferPointer, object: UnsafeRawBufferPointer?) -> Route {
        version &+= 1
        let nameHash = hash(name)
        if let entry = names.lookUp(name, hash: nameHash) {
            return entry._withUnsafeGuaranteedRef { entry in
                if entry.globCount == 0, object == nil, everything.anyObject.count == 0 {
                    let set = entry.observers.anyObject
                    return Route(slots: set.slots, count: set.count, nameIsKnown: true)
                }
                return collect(entry, object)
            }
        }
        return routeUnknown(name, hash: nameHash, object)
    }

    /// A name without an entry. Seen for the second time within a while it gets one, so that names that are used only once
    /// leave nothing.
    @inline(never)
    private func routeUnknown(
        _ name: UnsafeRawBufferPointer, hash nameHash: UInt64, _ object: UnsafeRawBufferPointer?
    ) -> Route {
        let place = Int(nameHash >> 32) & (seenOnce.count - 1)
        let print = UInt32(truncatingIfNeeded: nameHash) | 1
        if seenOnce[place] == print, (try? NameRules.check(name: name)) != nil {
            let entry = makeEntry(name, hash: nameHash)
            return collect(entry, object)
        }
        seenOnce[place] = print
        begin()
        globs.forEachMatch(of: name) { collect($0.observers, object) }
        collect(everything, object)
        return Route(slots: targets, count: collected, nameIsKnown: false)
    }

    @inline(never)
    private func collect(_ entry: NameEntry, _ object: UnsafeRawBufferPointer?) -> Route {
        if entry.globCount < 0 { resolve(entry) }
        let observers = entry.observers
        // Where one set is all there is, it is the route.
        if object == nil, everything.anyObject.isEmpty {
            if entry.globCount == 0 {
                return Route(
                    slots: observers.anyObject.slots, count: observers.anyObject.count, nameIsKnown: true)
            }
            if entry.globCount == 1, observers.anyObject.isEmpty,
                let set = entry.globs?[0].observers.anyObject
            {
                return Route(slots: set.slots, count: set.count, nameIsKnown: true)
            }
        }
        begin()
        collect(observers, object)
        if let globs = entry.globs, !globs.isEmpty {
            for glob in globs { collect(glob.observers, object) }
        }
        collect(everything, object)
        return Route(slots: targets, count: collected, nameIsKnown: true)
    }

    private var collected = 0

    private func begin() {
        collected = 0
        mark &+= 1
    }

    private func collect(_ group: ObserverGroup, _ object: UnsafeRawBufferPointer?) {
        collect(group.anyObject)
        guard let object, let byObject = group.byObject else { return }
        if let set = byObject.value(object, hash: hash(object)) { collect(set) }
    }

    private func collect(_ set: ReceiverSet) {
        for index in 0..<set.count {
            let slot = Int(set.slots[index])
            if marks[slot] == mark { continue }
            marks[slot] = mark
            targets[collected] = Int32(truncatingIfNeeded: slot)
            collected += 1
        }
    }

    private func makeEntry(_ name: UnsafeRawBufferPointer, hash nameHash: UInt64) -> NameEntry {
        let entry = NameEntry(name: [UInt8](name), hash: nameHash)
        names.insert(name, hash: nameHash, entry)
        return entry
    }

    private func entry(_ name: [UInt8]) -> NameEntry {
        name.withUnsafeBytes { bytes in
            let nameHash = hash(bytes)
            return names.value(bytes, hash: nameHash) ?? makeEntry(bytes, hash: nameHash)
        }
    }

    @inline(never)
    private func resolve(_ entry: NameEntry) {
        if resolved.isFull {
            for forgotten in resolved.removeAll() where forgotten !== entry { dropIfUnused(forgotten) }
        }
        var found: [Glob] = []
        entry.name.withUnsafeBytes { globs.forEachMatch(of: $0) { found.append($0) } }
        entry.globs = found
        resolved.insert(entry)
    }

    private func dropIfUnused(_ entry: NameEntry) {
        guard entry.isOnlyRemembered, entry.resolvedIndex < 0 else { return }
        entry.name.withUnsafeBytes { names.remove($0, hash: entry.hash) }
    }

    // Observers.

    func add(_ slot: Int32, _ subject: Observation.Subject, object: [UInt8]?) {
        version &+= 1
        switch subject {
        case .everything: everything.add(slot, object: object, hash: hash)
        case .name(let name): entry(name).observers.add(slot, object: object, hash: hash)
        case .pattern(let text, let pattern):
            glob(text, pattern).observers.add(slot, object: object, hash: hash)
        }
    }

    func remove(_ slot: Int32, _ subject: Observation.Subject, object: [UInt8]?) {
        version &+= 1
        switch subject {
        case .everything: everything.remove(slot, object: object, hash: hash)
        case .name(let name):
            let entry = entry(name)
            entry.observers.remove(slot, object: object, hash: hash)
            dropIfUnused(entry)
        case .pattern(let text, _):
            text.withUnsafeBytes { bytes in
                let textHash = hash(bytes)
                guard let glob = globsByText.value(bytes, hash: textHash) else { return }
                glob.observers.remove(slot, object: object, hash: hash)
                guard glob.observers.isEmpty else { return }
                globsByText.remove(bytes, hash: textHash)
                globs.remove(glob)
                resolved.forEachMatch(of: glob.pattern) { $0.globs?.removeAll { $0 === glob } }
            }
        }
    }

    private func glob(_ text: [UInt8], _ pattern: NamePattern) -> Glob {
        text.withUnsafeBytes { bytes in
            let textHash = hash(bytes)
            if let glob = globsByText.value(bytes, hash: textHash) { return glob }
            let glob = Glob(text: text, pattern: pattern)
            globsByText.insert(bytes, hash: textHash, glob)
            globs.insert(glob)
            resolved.forEachMatch(of: pattern) { $0.globs?.append(glob) }
            return glob
        }
    }

    // Those who wait for observers.

    /// How many connections a post of this name and object would go to.
    func receivers(_ name: [UInt8], object: [UInt8]?) -> Int {
        name.withUnsafeBytes { name in
            guard let object else { return route(name, object: nil).count }
            return object.withUnsafeBytes { route(name, object: $0).count }
        }
    }

    private var awaitedNames: [NameEntry] = []

    func wait(_ awaiter: Awaiter, for name: [UInt8]) {
        let entry = entry(name)
        if entry.awaiters.isEmpty { awaitedNames.append(entry) }
        entry.awaiters.append(awaiter)
    }

    /// Takes the awaiters that are served now that an observer of `subject` came, with the receivers that they have.
    func takeSatisfied(by subject: Observation.Subject) -> [(awaiter: Awaiter, receivers: Int)] {
        guard !awaitedNames.isEmpty else { return [] }
        var taken: [(Awaiter, Int)] = []
        let candidates =
            switch subject {
            case .everything, .pattern: awaitedNames
            case .name(let name): [entry(name)]
            }
        for entry in candidates where !entry.awaiters.isEmpty {
            // All who wait for the same name and object see the same number.
            var known: [[UInt8]?: Int] = [:]
            var left: [Awaiter] = []
            for awaiter in entry.awaiters {
                let count = known[awaiter.object] ?? receivers(entry.name, object: awaiter.object)
                known[awaiter.object] = count
                if count >= awaiter.count { taken.append((awaiter, count)) } else { left.append(awaiter) }
            }
            if left.count < entry.awaiters.count { update(entry, left) }
        }
        return taken
    }

    /// Forgets what a connection waits for.
    func removeAwaiters(of slot: Int32) {
        for entry in awaitedNames where entry.awaiters.contains(where: { $0.slot == slot }) {
            update(entry, entry.awaiters.filter { $0.slot != slot })
        }
    }

    private func update(_ entry: NameEntry, _ awaiters: [Awaiter]) {
        version &+= 1
        entry.awaiters = awaiters
        guard awaiters.isEmpty else { return }
        awaitedNames.removeAll { $0 === entry }
        dropIfUnused(entry)
    }
}
