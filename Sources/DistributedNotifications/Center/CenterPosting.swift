import ClientCore
import Foundation
import UnixIO
import WireProtocol

// What goes out.
extension CenterState {
    var hasRoom: Bool { session.unsentCount < outboxBytes }

    /// Offers the kernel what waits. True if something is left that the I/O thread must see to.
    mutating func write() -> Bool {
        guard case .connected(let connection) = link, !isWriteClosed else { return false }
        while session.unsentCount > 0 {
            switch session.withUnsent({ connection.socket.write($0) }) {
            case .bytes(let count): session.kernelTook(count)
            case .wouldBlock: return true
            case .closed, .failed:
                isWriteClosed = true
                return false
            }
            if hasRoom {
                for waiter in roomWaiters { waiter.signal() }
                roomWaiters = []
            }
        }
        for waiter in drainWaiters { waiter.signal() }
        drainWaiters = []
        return false
    }

    /// Returns what to wait on if there is no room.
    mutating func post(
        _ post: Post, at now: UInt64, waiting: Bool, _ effects: inout Effects
    ) -> DispatchSemaphore? {
        if let error = refusal(of: post) {
            tell(.postFailed(Notification.Name(post.name), error), &effects)
            return nil
        }
        guard hasRoom else {
            let room = DispatchSemaphore(value: 0)
            if waiting { roomWaiters.append(room) }
            return room
        }
        if post.retention == .none {
            session.post(post, at: now)
        } else {
            watchedPosts[session.send(post, at: now)] = post.name
        }
        return nil
    }

    func refusal(of post: Post) -> DistributedNotificationError? {
        if case .refused(let reason) = link { return reason }
        guard isOpen else { return .closed }
        let size = post.name.utf8.count + (post.object?.utf8.count ?? 0) + (post.userInfo?.count ?? 0)
        guard size <= limits.frameBytes else {
            return .init(
                code: .tooLarge,
                description: "\(size) bytes are more than the \(limits.frameBytes) of a frame")
        }
        return nil
    }
}
