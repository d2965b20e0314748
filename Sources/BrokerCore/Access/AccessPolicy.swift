/// Who may connect, and how much of the broker each other user may take.
struct AccessPolicy {
    private let ownUser: UInt32
    private let allowed: Set<UInt32>
    private let maxConnections: Int
    private let observersRoom: Int
    private var connections = 0
    private var observers = 0
    private var byUser: [UInt32: (connections: Int, observers: Int)] = [:]

    init(_ configuration: Configuration) {
        ownUser = configuration.ownUser
        allowed = configuration.allowedUsers
        maxConnections = configuration.maxConnections
        observersRoom = 1_000_000
    }

    /// Whether a user is neither the broker's own nor root.
    func isForeign(_ uid: UInt32) -> Bool { uid != ownUser && uid != 0 }

    /// What another user may have of something.
    private func share(_ whole: Int) -> Int { max(1, whole / 4) }

    /// Counts a connection in; or says why it is refused.
    mutating func admit(_ uid: UInt32) -> String? {
        if isForeign(uid) {
            guard allowed.contains(uid) else { return "user \(uid) may not connect to this broker" }
            let own = byUser[uid]?.connections ?? 0
            if own >= share(maxConnections) {
                return
                    "user \(uid) has \(own) connections: the limit for another user is \(share(maxConnections))"
            }
        }
        if connections >= maxConnections {
            return "the broker has \(connections) connections: the limit is \(maxConnections)"
        }
        connections += 1
        byUser[uid, default: (0, 0)].connections += 1
        return nil
    }

    mutating func leave(_ uid: UInt32) {
        connections -= 1
        byUser[uid]?.connections -= 1
        forgetIfIdle(uid)
    }

    /// Counts an observer in; or answers the limit that it is above.
    mutating func addObserver(_ uid: UInt32) -> Int? {
        if isForeign(uid), byUser[uid]?.observers ?? 0 >= share(observersRoom) { return share(observersRoom) }
        if observers >= observersRoom { return observersRoom }
        observers += 1
        byUser[uid, default: (0, 0)].observers += 1
        return nil
    }

    mutating func removeObservers(_ count: Int, of uid: UInt32) {
        observers -= count
        byUser[uid]?.observers -= count
        forgetIfIdle(uid)
    }

    private mutating func forgetIfIdle(_ uid: UInt32) {
        if let user = byUser[uid], user.connections <= 0, user.observers <= 0 { byUser[uid] = nil }
    }
}
