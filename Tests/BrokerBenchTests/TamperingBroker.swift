import TestSupport

/// A broker that is asked to relay, and does something else.
final class TamperingBroker {
    enum Way: String, CaseIterable, Sendable {
        case not, loses, doubles, reorders, damages, ordersForEach, forgetsTheLast
    }

    private let way: Way
    private let broker: FakeBroker
    private var clients: [FrameClient] = []
    private var receivers: [FrameClient] = []
    private var posts: [Int: [JSONValue]] = [:]
    private var pings: [Int: JSONValue] = [:]
    private let senders: Int

    init(_ way: Way, senders: Int, on stage: Stage) throws {
        self.way = way
        self.senders = senders
        broker = try stage.fakeBroker()
    }

    /// Does what there is to do.
    func serve() throws {
        while let client = try broker.acceptIfAny() { clients.append(client) }
        for (index, client) in clients.enumerated() {
            while let frame = try client.frameIfAny() { try take(frame, from: client, index) }
        }
    }

    private func take(_ frame: JSONValue, from client: FrameClient, _ index: Int) throws {
        switch frame["type"]?.text {
        case "status":
            try client.send(#"{"type":"status","id":\#(frame["id"]?.int ?? 0),"pid":0}"#)
        case "addObserver":
            receivers.append(client)
            try client.answer(frame)
        case "post":
            posts[index, default: []].append(frame)
        case "ping" where posts[index] != nil:
            pings[index] = frame
            guard pings.count == senders else { return }
            try deliver()
            for (index, ping) in pings { try clients[index].answer(ping) }
        default:
            try client.answer(frame)
        }
    }

    private func deliver() throws {
        let bySender = posts.keys.sorted().map { posts[$0] ?? [] }
        for (index, receiver) in receivers.enumerated() {
            var relayed = Array(
                (way == .ordersForEach && index > 0 ? bySender.reversed() : bySender).joined())
            switch way {
            case .not, .ordersForEach, .damages: break
            case .loses: relayed.remove(at: 5)
            case .doubles: relayed.insert(relayed[5], at: 6)
            case .reorders: relayed.swapAt(5, 6)
            case .forgetsTheLast: relayed.removeLast()
            }
            for (seq, post) in relayed.enumerated() {
                var data = post["userInfo"]?["data"]?.text ?? ""
                if way == .damages, seq == 5 { data = data.dropLast() + "#" }
                try receiver.notify(seq + 1, #"{"data":"\#(data)"}"#, name: post["name"]?.text ?? "")
            }
        }
    }
}
