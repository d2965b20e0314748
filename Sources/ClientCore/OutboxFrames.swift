/// What the frames of an outbox are, in their order.
///
/// In columns, since arrays of these types are there when a program starts. That of a type of our own the run-time would put
/// together first, which takes as long as a post.
struct OutboxFrames: Sendable {
    struct Frame: Sendable {
        enum Kind: Sendable {
            case post(name: String, since: UInt64)
            case boundToConnection
        }

        let kind: Kind
        let id: RequestID?
        let end: Int
    }

    private static let bound = -1
    /// The numbers of requests begin with 1.
    private static let unnumbered = 0

    /// Of posts; of others it is empty.
    private var names: [String] = []
    private var moments: [Int] = []
    private var ids: [Int] = []
    private var ends: [Int] = []

    var count: Int { ends.count }

    subscript(index: Int) -> Frame {
        Frame(
            kind: moments[index] == Self.bound
                ? .boundToConnection : .post(name: names[index], since: UInt64(moments[index])),
            id: ids[index] == Self.unnumbered ? nil : RequestID(number: UInt64(ids[index])),
            end: ends[index])
    }

    func end(of index: Int) -> Int { ends[index] }

    mutating func append(_ kind: Frame.Kind, id: RequestID?, end: Int) {
        switch kind {
        case .post(let name, let since):
            names.append(name)
            moments.append(Int(clamping: since))
        case .boundToConnection:
            names.append("")
            moments.append(Self.bound)
        }
        ids.append(id.map { Int($0.number) } ?? Self.unnumbered)
        ends.append(end)
    }

    /// Those that stay end so much earlier as the last of the others did.
    mutating func removeFirst(_ count: Int) {
        guard count > 0 else { return }
        let start = ends[count - 1]
        names.removeFirst(count)
        moments.removeFirst(count)
        ids.removeFirst(count)
        ends.removeFirst(count)
        for index in ends.indices { ends[index] -= start }
    }

    mutating func removeAll() {
        names.removeAll(keepingCapacity: true)
        moments.removeAll(keepingCapacity: true)
        ids.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }
}
