import WireProtocol

/// The observers of one client, and which of them a notification is for.
///
/// Names and objects are compared as bytes: `String` would take two Unicode normal forms for one name.
struct ObserverTable: Sendable {
    private struct Entry: Sendable {
        var observation: Observation
        let object: [UInt8]?
        /// nil also for a glob that is none: the broker refuses it.
        let pattern: NamePattern?
        /// The broker has said `ok` on this connection. What comes earlier was meant for other observers.
        var isConfirmed = false
        var seen = SeenNotifications()
    }

    private var entries: [ObserverID: Entry] = [:]
    private var named: [[UInt8]: [ObserverID]] = [:]
    private var unnamed: [ObserverID] = []
    private var lastNumber: UInt64 = 0

    var all: [(ObserverID, Observation)] {
        if entries.isEmpty { return [] }
        return entries.map { ($0.key, $0.value.observation) }.sorted { $0.0 < $1.0 }
    }

    var unconfirmedCount: Int { entries.values.count { !$0.isConfirmed } }

    mutating func add(_ observation: Observation) -> ObserverID {
        lastNumber += 1
        let id = ObserverID(number: lastNumber)
        entries[id] = Entry(
            observation: observation, object: observation.object.map { Array($0.utf8) },
            pattern: Self.pattern(of: observation.names))
        if case .name(let name) = observation.names {
            named[Array(name.utf8), default: []].append(id)
        } else {
            unnamed.append(id)
        }
        return id
    }

    private static func pattern(of names: ObservedNames) -> NamePattern? {
        guard case .matching(let glob) = names else { return nil }
        return NamePattern(glob: glob)
    }

    @discardableResult
    mutating func remove(_ id: ObserverID) -> Bool {
        guard let entry = entries.removeValue(forKey: id) else { return false }
        if case .name(let name) = entry.observation.names {
            let key = Array(name.utf8)
            named[key]?.removeAll { $0 == id }
            if named[key]?.isEmpty == true {
                named[key] = nil
            }
        } else {
            unnamed.removeAll { $0 == id }
        }
        return true
    }

    mutating func confirm(_ id: ObserverID) -> Bool {
        guard entries[id] != nil else { return false }
        entries[id]?.isConfirmed = true
        return true
    }

    mutating func connectionEnded() {
        for id in entries.keys {
            entries[id]?.isConfirmed = false
            entries[id]?.seen.connectionEnded()
        }
    }

    mutating func forgetSeen() {
        for id in entries.keys {
            entries[id]?.seen = SeenNotifications()
        }
    }

    mutating func setOverflow(_ overflow: Overflow) {
        for id in entries.keys {
            entries[id]?.observation.overflow = overflow
        }
    }

    /// The observers that this notification is new to, in the order of their registration.
    mutating func receivers(of notification: ReceivedNotification) -> [ObserverID] {
        if notification.isRetained {
            guard let id = notification.observer.flatMap(ObserverID.init(label:)),
                entries[id]?.isConfirmed == true,
                entries[id]?.seen.sawRetained(notification.seq) == true
            else { return [] }
            return [id]
        }
        let name = notification.nameBytes
        var object: [UInt8]??
        var found: [ObserverID] = []
        for id in named[name] ?? [] where accepts(id, name, notification, &object) {
            found.append(id)
        }
        let exact = found.count
        for id in unnamed where accepts(id, name, notification, &object) {
            found.append(id)
        }
        if exact > 0 && found.count > exact {
            found.sort()
        }
        for id in found {
            entries[id]?.seen.sawLive(notification.seq)
        }
        return found
    }

    /// `object` keeps the notification's object once it was asked for.
    private func accepts(
        _ id: ObserverID, _ name: [UInt8], _ notification: ReceivedNotification, _ object: inout [UInt8]??
    ) -> Bool {
        guard let entry = entries[id], entry.isConfirmed else { return false }
        if case .matching = entry.observation.names,
            entry.pattern.map({ name.withUnsafeBytes($0.matches) }) != true
        {
            return false
        }
        guard let wanted = entry.object else { return true }
        let given = object ?? notification.objectBytes
        object = .some(given)
        return given == wanted
    }
}
