import CommandLineSupport
import Endpoint
import UnixIO
import WireProtocol

/// Notifications that the broker keeps for a measurement, each under a name of its own. A broker that goes on must not keep them
/// for ever, so whoever makes them clears them.
struct RetainedState {
    private let plan: Plan
    private let link: Link
    private let memory = ByteStorage(capacity: 64 << 10)

    init(_ plan: Plan, at place: SocketPath, until limit: WaitLimit) throws(Failure) {
        self.plan = plan
        link = try Link(place, until: limit)
        do throws(Failure) {
            let batch = PostBatch(plan, sender: 0, total: plan.countPerSender)
            while !batch.rest.isEmpty {
                let posts = Array(batch.rest)
                _ = batch.advance(by: posts.count)
                try link.exchange(posts + Link.farewellPing, answers: 1, through: memory, until: limit)
            }
        } catch {
            try? clear(until: limit)
            throw error
        }
    }

    func clear(until limit: WaitLimit) throws(Failure) {
        var requests: [UInt8] = []
        for number in 0..<plan.countPerSender {
            RequestEncoder.post(
                Post(name: plan.name(sender: 0, number: number), retention: .clear), id: nil, to: &requests)
        }
        try link.exchange(requests + Link.farewellPing, answers: 1, through: memory, until: limit)
    }
}
