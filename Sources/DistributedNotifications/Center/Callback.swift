import Foundation
import Synchronization

/// What an observer of Apple's shape wants to have called.
final class Callback: Sendable {
    enum Call: Sendable {
        case block(@Sendable (Notification) -> Void)
        /// Answers false if the object that it calls is gone.
        case method(@MainActor @Sendable (Notification) -> Bool)
    }

    let call: Call
    private let active = Atomic(true)

    init(_ call: Call) {
        self.call = call
    }

    /// Once false no new call begins.
    var isActive: Bool { active.load(ordering: .acquiring) }

    func deactivate() {
        active.store(false, ordering: .releasing)
    }
}
