import ClientCore
import Foundation
import UnixIO
import WireProtocol

// What goes out.
extension CenterState {
    var hasRoom: Bool { session.unsentCount < outboxBytes }

    private var writableConnection: Connection? {
        if case .connected(let connection) = link, !isWriteClosed { connection } else { nil }
    }

    /// Offers the kernel what waits. True if something is left that the I/O thread must see to.
    mutating func write() -> Bool {
        while true {
            let unsent = session.unsentCount
            if unsent < outboxBytes { roomWaiters.signalAll() }
            if unsent == 0 {
                drainWaiters.signalAll()
                return false
            }
            guard let connection = writableConnection else { return false }
            switch session.withUnsent({ connection.socket.write($0) }) {
            case .bytes(let count): session.kernelTook(count)
            case .wouldBlock: return true
            case .closed, .failed:
                isWriteClosed = true
                return false
            }
        }
    }

    private mutating func postNow(_ post: Post, at now: UInt64) {
        guard let connection = writableConnection else {
            session.post(post, at: now)
            return
        }
        var isClosed = false
        session.post(post, at: now) { frame in
            switch connection.socket.write(frame) {
            case .bytes(let count): return count
            case .wouldBlock: return 0
            case .closed, .failed:
                isClosed = true
                return 0
            }
        }
        isWriteClosed = isClosed
    }

    /// Returns what to wait on if there is no room.
    mutating func post(
        _ post: Post, at now: UInt64, waiting: Bool, _ effects: inout Effects
    ) -> DispatchSemaphore? {
        let isAnswered =
            switch post.retention {
            case .none: false
            case .keep, .clear: true
            }
        if let error = refusal(of: post, isAnswered: isAnswered) {
            tell(.postFailed(Notification.Name(post.name), error), &effects)
            return nil
        }
        guard hasRoom else {
            let room = DispatchSemaphore(value: 0)
            if waiting { roomWaiters.append(room) }
            return room
        }
        if isAnswered {
            watchedPosts[session.send(post, at: now)] = post.name
        } else {
            postNow(post, at: now)
        }
        return nil
    }

    func refusal(of post: Post, isAnswered: Bool) -> DistributedNotificationError? {
        if case .refused(let reason) = link { return reason }
        guard isOpen else { return .closed }
        let size = post.frameBytes(id: isAnswered ? session.nextNumber : nil)
        guard size <= limits.frameBytes else {
            return .init(
                code: .tooLarge,
                description: "\(size) bytes are more than the \(limits.frameBytes) of a frame")
        }
        if post.isDeeper(than: limits.depth) {
            return .init(
                code: .invalidValue, description: "nested deeper than the \(limits.depth) levels of a frame")
        }
        return nil
    }
}

extension [DispatchSemaphore] {
    mutating func signalAll() {
        if isEmpty { return }
        for waiter in self { waiter.signal() }
        self = []
    }
}
