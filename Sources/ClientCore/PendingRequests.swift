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

    private static let worthCompacting = 1024

    private static let answered = 0

    /// The words of kinds, or `answered`. No type of our own: the run-time would put together that of its array at the start of
    /// every tool, which takes as long as a post.
    private var queue: [Int] = []
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
            queue.append(Self.answered)
            dropAnswered()
        } else {
            queue.append(kind.word)
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
        guard let kind = Kind(word: queue[place]) else {
            return awaited.remove(id) == nil ? nil : .await
        }
        queue[place] = Self.answered
        dropAnswered()
        return kind
    }

    private mutating func dropAnswered() {
        while head < queue.count, queue[head] == Self.answered {
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
        for (offset, word) in queue[head...].enumerated() {
            let id = RequestID(number: firstNumber + UInt64(offset))
            if let kind = Kind(word: word), !kept.contains(id) { removed.append((id, kind)) }
        }
        for (id, _) in removed { _ = remove(id) }
        return removed.sorted { $0.id < $1.id }
    }
}

extension PendingRequests.Kind {
    /// The kind in the lowest three bits, an observer's number above them; never 0.
    fileprivate var word: Int {
        switch self {
        case .hello: 1
        case .observe(let observer): Int(observer.number) * 8 + 2
        case .stopObserving(let observer): Int(observer.number) * 8 + 3
        case .post: 4
        case .other: 5
        case .await: 6
        }
    }

    /// Nil for what is no kind's word.
    fileprivate init?(word: Int) {
        switch word & 7 {
        case 1: self = .hello
        case 2: self = .observe(ObserverID(number: UInt64(word >> 3)))
        case 3: self = .stopObserving(ObserverID(number: UInt64(word >> 3)))
        case 4: self = .post
        case 5: self = .other
        case 6: self = .await
        default: return nil
        }
    }
}
