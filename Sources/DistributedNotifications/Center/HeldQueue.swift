import ClientCore
import WireProtocol

/// What came while the center was suspended, in the order in which it came.
///
/// Of an observer that coalesces it keeps the last of each name and object, of one that holds all, and of each observer
/// only so many: of more the oldest go, and are counted.
struct HeldQueue {
    struct Entry {
        let observer: ObserverID
        let notification: ReceivedNotification
    }

    private struct Key: Hashable {
        let observer: ObserverID
        let name: [UInt8]
        let object: [UInt8]?
    }

    static let limit = 1_000

    private var slots: [Entry?] = []
    private var used = 0
    private var counts: [ObserverID: Int] = [:]
    private var latest: [Key: Int] = [:]
    /// How many were dropped of each observer.
    private(set) var missed: [ObserverID: UInt64] = [:]

    mutating func hold(_ notification: ReceivedNotification, for observer: ObserverID) {
        if counts[observer, default: 0] == Self.limit,
            let oldest = slots.firstIndex(where: { $0?.observer == observer })
        {
            clear(oldest)
            missed[observer, default: 0] += 1
        }
        slots.append(Entry(observer: observer, notification: notification))
        used += 1
        counts[observer, default: 0] += 1
        compactIfWorthwhile()
    }

    /// Replaces what is held of the same name and object.
    mutating func coalesce(_ notification: ReceivedNotification, for observer: ObserverID) {
        let key = Key(observer: observer, name: notification.nameBytes, object: notification.objectBytes)
        if let slot = latest[key], slots[slot] != nil { clear(slot) }
        hold(notification, for: observer)
        latest[key] = slots.count - 1
    }

    private mutating func clear(_ slot: Int) {
        guard let entry = slots[slot] else { return }
        slots[slot] = nil
        used -= 1
        counts[entry.observer, default: 1] -= 1
    }

    private mutating func compactIfWorthwhile() {
        guard slots.count > 64, used < slots.count / 2 else { return }
        var moved: [Int: Int] = [:]
        var kept: [Entry?] = []
        for (slot, entry) in slots.enumerated() where entry != nil {
            moved[slot] = kept.count
            kept.append(entry)
        }
        slots = kept
        latest = latest.compactMapValues { moved[$0] }
    }

    mutating func forget(_ observer: ObserverID) {
        for slot in slots.indices where slots[slot]?.observer == observer { clear(slot) }
        missed[observer] = nil
    }

    /// All that is held; nothing is afterwards.
    mutating func takeAll() -> (entries: [Entry], missed: [ObserverID: UInt64]) {
        defer { self = HeldQueue() }
        return (slots.compactMap { $0 }, missed)
    }
}
