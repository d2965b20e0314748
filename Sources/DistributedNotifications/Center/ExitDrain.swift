import Foundation
import UnixIO

/// Lets what was posted just before the process exits still go out: the exit waits for the outboxes of all centers, at most
/// a second.
final class ExitDrain: Sendable {
    static let shared = ExitDrain()

    private struct Member {
        weak var engine: CenterEngine?
    }

    private let members = Locked<[Member]>([])

    private init() {
        atexit { ExitDrain.shared.drain() }
    }

    func add(_ engine: CenterEngine) {
        members.withLock { members in
            members.removeAll { $0.engine == nil }
            members.append(Member(engine: engine))
        }
    }

    private func drain() {
        let deadline = DispatchTime.now() + .nanoseconds(Int(CenterEngine.Bounds().shortPatience))
        for engine in members.withLock({ $0.compactMap(\.engine) }) {
            _ = engine.drainSignal()?.wait(timeout: deadline)
        }
    }
}
