import WireProtocol

/// A notification that is kept for observers to come.
final class RetainedNotification {
    let seq: UInt64
    let time: UInt64
    let sender: NotificationEncoder.Sender
    let name: [UInt8]
    let object: [UInt8]?
    let deliverImmediately: Bool
    let userInfoBytes: Int
    /// The userInfo's JSON; let go when the notification is replaced or cleared.
    fileprivate(set) var userInfo: ByteStorage?
    fileprivate(set) var isCurrent = true

    init(
        seq: UInt64, time: UInt64, sender: NotificationEncoder.Sender, name: [UInt8], object: [UInt8]?,
        deliverImmediately: Bool, userInfo: UnsafeRawBufferPointer?
    ) {
        self.seq = seq
        self.time = time
        self.sender = sender
        self.name = name
        self.object = object
        self.deliverImmediately = deliverImmediately
        userInfoBytes = userInfo?.count ?? 0
        self.userInfo = userInfo.map { bytes in
            let storage = ByteStorage(capacity: bytes.count)
            UnsafeMutableRawBufferPointer(start: storage.base, count: bytes.count).copyMemory(from: bytes)
            return storage
        }
    }

    /// What it takes of the store's room.
    var charge: Int { Self.charge(name: name, object: object, userInfo: userInfoBytes) }

    static func charge(name: [UInt8], object: [UInt8]?, userInfo: Int) -> Int {
        name.count + (object?.count ?? 0) + userInfo
    }
}

/// The newest retained notification of each name and object, within a bound.
struct RetainedStore {
    private struct Key: Hashable {
        var name: [UInt8]
        var object: [UInt8]?
    }

    let room: Int
    /// The part of the room that each user besides the broker's own and root has.
    let foreignRoom: Int
    private var kept: [Key: RetainedNotification] = [:]
    private var used = 0
    private var usedByUser: [UInt32: Int] = [:]

    init(room: Int) {
        self.room = room
        foreignRoom = room / 4
    }

    var count: Int { kept.count }

    enum Refusal: Error {
        case noRoom(needed: Int, left: Int)
        /// It was retained by another user.
        case foreign(uid: UInt32)
    }

    /// Checks whether a user may replace or clear what is kept, and whether a new one of `charge` bytes fits.
    func check(
        name: [UInt8], object: [UInt8]?, charge: Int?, uid: UInt32, isForeign: Bool
    ) throws(Refusal) {
        let old = kept[Key(name: name, object: object)]
        if let old, isForeign, old.sender.uid != uid { throw .foreign(uid: old.sender.uid) }
        guard let charge else { return }
        let freed = old?.charge ?? 0
        if used - freed + charge > room { throw .noRoom(needed: charge, left: room - used + freed) }
        if isForeign {
            let own = (usedByUser[uid] ?? 0) - freed
            if own + charge > foreignRoom { throw .noRoom(needed: charge, left: foreignRoom - own) }
        }
    }

    mutating func keep(_ notification: RetainedNotification) {
        clear(name: notification.name, object: notification.object)
        kept[Key(name: notification.name, object: notification.object)] = notification
        used += notification.charge
        usedByUser[notification.sender.uid, default: 0] += notification.charge
    }

    mutating func clear(name: [UInt8], object: [UInt8]?) {
        guard let old = kept.removeValue(forKey: Key(name: name, object: object)) else { return }
        used -= old.charge
        let uid = old.sender.uid
        let left = (usedByUser[uid] ?? 0) - old.charge
        usedByUser[uid] = left > 0 ? left : nil
        old.isCurrent = false
        old.userInfo = nil
    }

    /// What an observer is to be given, in the order of `seq`.
    func matching(_ subject: Observation.Subject, object: [UInt8]?) -> [RetainedNotification] {
        if case .name(let name) = subject, let object {
            return kept[Key(name: name, object: object)].map { [$0] } ?? []
        }
        return kept.values
            .filter { one in (object == nil || one.object == object) && subject.matches(one.name) }
            .sorted { $0.seq < $1.seq }
    }
}
