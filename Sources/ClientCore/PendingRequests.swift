/// Requests that have no answer yet.
///
/// Answers come in the order of the requests, but for those that wait for something else to happen first. So most are
/// kept in a queue in which a request's number is its place; it is as long as what is under way.
struct PendingRequests: Sendable {
    enum Kind: Sendable {
        case hello
        case observe(ObserverID)
        case stopObserving(ObserverID)
        case post
        case other
        /// Answered out of order.
        case await
    }

    // No optional: the run-time would put its type together at the start of every tool, which takes as long as a post.
    private enum Place {
        case outstanding(Kind)
        case answered
    }

    private static let worthCompacting = 1024

    private var queue: [Place] = []
    private var head = 0
    /// The number of the request at `head`.
    private var firstNumber: UInt64 = 1
    private var awaited: Set<RequestID> = []
    private var count = 0

    var isEmpty: Bool { count == 0 }

    var nextNumber: UInt64 { firstNumber + UInt64(queue.count - head) }

    mutating func add(_ kind: Kind) -> RequestID {
        let id = RequestID(number: nextNumber)
        count += 1
        if case .await = kind {
            awaited.insert(id)
            queue.append(.answered)
            dropAnswered()
        } else {
            queue.append(.outstanding(kind))
        }
        return id
    }

    mutating func remove(_ id: RequestID) -> Kind? {
        guard let kind = take(id) else { return nil }
        count -= 1
        return kind
    }

    private mutating func take(_ id: RequestID) -> Kind? {
        guard id.number >= firstNumber, id.number - firstNumber < UInt64(queue.count - head) else {
            return awaited.remove(id) == nil ? nil : .await
        }
        let place = head + Int(id.number - firstNumber)
        guard case .outstanding(let kind) = queue[place] else {
            return awaited.remove(id) == nil ? nil : .await
        }
        queue[place] = .answered
        dropAnswered()
        return kind
    }

    private mutating func dropAnswered() {
        while head < queue.count, case .answered = queue[head] {
            head += 1
            firstNumber += 1
        }
        if head == queue.count || head > Self.worthCompacting && head > queue.count / 2 {
            queue.removeFirst(head)
            head = 0
        }
    }

    /// Takes out all that are not among `kept`, in their order.
    mutating func removeAll(but kept: Set<RequestID>) -> [(id: RequestID, kind: Kind)] {
        var removed = awaited.map { (id: $0, kind: Kind.await) }
        for (offset, place) in queue[head...].enumerated() {
            let id = RequestID(number: firstNumber + UInt64(offset))
            if case .outstanding(let kind) = place, !kept.contains(id) { removed.append((id, kind)) }
        }
        for (id, _) in removed { _ = remove(id) }
        return removed.sorted { $0.id < $1.id }
    }
}
