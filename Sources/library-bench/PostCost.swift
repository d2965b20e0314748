import CommandLineSupport
import DistributedNotifications
import Endpoint
import Foundation
import UnixIO

/// What a post costs its caller, beside a bare write of as many bytes to the same broker.
struct PostCost: CustomStringConvertible {
    let post: Duration
    let write: Duration
    /// The median of the rounds' ratios.
    let ratio: Double

    private static let rounds = 301
    /// So few that the kernel takes them all at once.
    private static let postsInARound = 50

    init(_ load: Load, _ broker: OwnBroker) async throws {
        let center = DistributedNotificationCenter(socketPath: "\(broker.place.path)")
        let socket = try StreamSocket.connect(to: broker.place.path)
        let text = #"{"type":"post","name":"LibraryBench.Reading","userInfo":{"sensor":"boiler","number":1}}"#
        let frame = [0, 0, 0, UInt8(text.utf8.count)] + Array(text.utf8)
        let clock = ContinuousClock()
        var posts: [Duration] = []
        var writes: [Duration] = []
        for _ in 0..<Self.rounds {
            // The answer says that the broker has read all before it.
            _ = try await center.send(name: Reading.name, object: nil, userInfo: [:])
            posts.append(clock.measure { load.repeatPost(Self.postsInARound, through: center) })
            _ = try await center.send(name: Reading.name, object: nil, userInfo: [:])
            writes.append(
                clock.measure {
                    frame.withUnsafeBytes { frame in
                        for _ in 0..<Self.postsInARound { _ = socket.write(frame) }
                    }
                })
        }
        ratio = zip(posts, writes).map { $0 / $1 }.sorted()[Self.rounds / 2]
        post = posts.sorted()[Self.rounds / 2] / Self.postsInARound
        write = writes.sorted()[Self.rounds / 2] / Self.postsInARound
        await center.close()
    }

    var description: String {
        let hundredths = Int((ratio * 100).rounded())
        return """
            \(post.nanoseconds) ns, \(Double(hundredths) / 100) times a bare write \
            (\(write.nanoseconds) ns)
            """
    }
}
