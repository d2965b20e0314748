import WireProtocol

/// Everything that a connection still has to be sent, in its one order.
///
/// It is a row of stages: a queue of bytes, and perhaps a replay of retained notifications behind it. What comes later goes
/// to the last stage; a replay is read from the store only when the queue before it has been written, so that it takes no
/// room ahead of time. Without retained notifications there is one stage.
final class Outbox {
    private enum Queue {
        case plain(DeliveryQueue)
        case coalescing(CoalescingQueue)
    }

    private struct Stage {
        var queue: Queue
        var replay: Replay?
    }

    private var stages: [Stage]
    private let keys: NotificationKeys

    init(coalescing: Bool, keys: NotificationKeys) {
        self.keys = keys
        stages = [Stage(queue: Outbox.queue(coalescing, keys), replay: nil)]
    }

    private static func queue(_ coalescing: Bool, _ keys: NotificationKeys) -> Queue {
        coalescing ? .coalescing(CoalescingQueue(keys: keys)) : .plain(DeliveryQueue())
    }

    var bytes: Int {
        stages.reduce(0) { sum, stage in
            switch stage.queue {
            case .plain(let queue): sum + queue.bytes
            case .coalescing(let queue): sum + queue.bytes
            }
        }
    }

    var notifications: Int {
        stages.reduce(0) { sum, stage in
            switch stage.queue {
            case .plain(let queue): sum + queue.notifications
            case .coalescing(let queue): sum + queue.notifications
            }
        }
    }

    private func isEmpty(_ queue: Queue) -> Bool {
        switch queue {
        case .plain(let queue): queue.isEmpty
        case .coalescing(let queue): queue.isEmpty
        }
    }

    var isEmpty: Bool { stages.count == 1 && stages[0].replay == nil && isEmpty(stages[0].queue) }

    /// Says that what is appended next begins with the rest of the frame under way.
    func expectRest(of ledger: FrameLedger) {
        if case .coalescing(let queue) = stages[stages.count - 1].queue { queue.expectRest(of: ledger) }
    }

    func append(_ piece: Piece, notifications: Int, in owner: ByteStorage, byReference: Bool) {
        switch stages[stages.count - 1].queue {
        case .plain(let queue):
            queue.append(piece, notifications: notifications, in: owner, byReference: byReference)
        case .coalescing(let queue):
            queue.append(piece, in: owner)
        }
    }

    /// Puts a replay behind what is queued now, and before what comes later.
    func append(_ replay: Replay, coalescing: Bool) {
        stages[stages.count - 1].replay = replay
        stages.append(Stage(queue: Outbox.queue(coalescing, keys), replay: nil))
    }

    /// Whether the next thing to write is to be read from the store.
    var awaitsReplay: Bool { isEmpty(stages[0].queue) && stages[0].replay != nil }

    /// Reads on in the replay that is next, up to about `limit` bytes.
    func pullReplay(upTo limit: Int) {
        while awaitsReplay {
            guard let replay = stages[0].replay else { return }
            replay.pull(upTo: limit) { piece, owner, notifications in
                switch stages[0].queue {
                case .plain(let queue):
                    queue.append(piece, notifications: notifications, in: owner, byReference: true)
                case .coalescing(let queue): queue.append(piece, in: owner)
                }
            }
            if replay.isFinished { finishReplay() }
        }
    }

    /// Drops the stage whose replay is through; its last frames move to the front of the next stage's bytes.
    private func finishReplay() {
        stages[0].replay = nil
        if isEmpty(stages[0].queue), stages.count > 1 { stages.removeFirst() }
    }

    /// Lets go of replays, and of the retained notifications that they have not read yet.
    func dropReplays() {
        for index in stages.indices { stages[index].replay = nil }
        dropEmptyStages()
    }

    private func dropEmptyStages() {
        while stages.count > 1, stages[0].replay == nil, isEmpty(stages[0].queue) { stages.removeFirst() }
    }

    func gather(_ pieces: UnsafeMutableBufferPointer<Piece>) -> Int {
        switch stages[0].queue {
        case .plain(let queue): queue.gather(pieces)
        case .coalescing(let queue): queue.gather(pieces)
        }
    }

    /// Removes what was written; answers how many notifications that completed.
    func remove(_ written: Int, _ ledger: inout FrameLedger) -> Int {
        defer { dropEmptyStages() }
        switch stages[0].queue {
        case .plain(let queue): return queue.remove(written, &ledger)
        case .coalescing(let queue): return queue.remove(written, &ledger)
        }
    }

    /// Makes room by the policy `coalesce`; answers how many notifications went.
    func shrink(to limit: Int) -> Int {
        var gone = 0
        for stage in stages {
            let excess = bytes - limit
            guard excess > 0 else { break }
            if case .coalescing(let queue) = stage.queue {
                gone += queue.shrink(to: max(0, queue.bytes - excess))
            }
        }
        return gone
    }

    /// Forgets all but the frame under way; answers how many notifications went.
    func discard(keeping ledger: FrameLedger) -> Int {
        let before = notifications
        usePlainQueues(ledger)
        dropReplays()
        guard case .plain(let first) = stages[0].queue else { return 0 }
        _ = first.discard(keeping: ledger)
        stages.removeSubrange(1...)
        return before - first.notifications
    }

    /// Goes on with queues of the other kind, with the same frames.
    func setCoalescing(_ coalescing: Bool, _ ledger: FrameLedger) {
        if coalescing { useCoalescingQueues(ledger) } else { usePlainQueues(ledger) }
    }

    private func usePlainQueues(_ ledger: FrameLedger) {
        for index in stages.indices {
            guard case .coalescing(let old) = stages[index].queue else { continue }
            let queue = DeliveryQueue()
            var isFirst = index == 0
            old.forEachFrame { piece, owner, isNotification in
                let counts = isNotification || (isFirst && ledger.isInNotification)
                isFirst = false
                queue.append(
                    piece, notifications: counts ? 1 : 0, in: owner,
                    byReference: piece.count * 2 >= owner.capacity)
            }
            stages[index].queue = .plain(queue)
        }
    }

    private func useCoalescingQueues(_ ledger: FrameLedger) {
        for index in stages.indices {
            guard case .plain(let old) = stages[index].queue else { continue }
            let queue = CoalescingQueue(keys: keys)
            if index == 0 { queue.expectRest(of: ledger) }
            old.forEachChunk { queue.append($0, in: $1) }
            stages[index].queue = .coalescing(queue)
        }
    }
}
