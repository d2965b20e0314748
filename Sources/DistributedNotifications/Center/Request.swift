import WireProtocol

/// What somebody waits for the broker to answer.
struct Request {
    enum Kind {
        case send(Post)
        /// Answered when all that was posted before is with the broker.
        case flush
        /// Asked again on each connection until it is answered.
        case awaitObservers(name: String, object: String?, count: UInt64)
    }

    struct Reply: Sendable {
        var seq: UInt64
        var receivers: UInt64
        var brokerInstance: String
    }

    typealias Result = Swift.Result<Reply, DistributedNotificationError>

    let kind: Kind
    let continuation: CheckedContinuation<Result, Never>
}

extension DistributedNotificationError {
    init(_ refusal: Refusal) {
        let code =
            switch refusal.code {
            case .known(let known): known.rawValue
            case .unknown(let word): word
            }
        self.init(
            code: code == ErrorCode.frameTooLarge.rawValue ? .tooLarge : .refused, brokerCode: code,
            description: refusal.message.isEmpty ? "the broker refused: \(code)" : refusal.message)
    }

    static let closed = Self(code: .cancelled, description: "the center is closed")
    static let cancelled = Self(
        code: .cancelled, description: "the task was cancelled before the broker's answer")
    static let outcomeUnknown = Self(
        code: .outcomeUnknown, description: "the connection ended before the broker's answer")
    static let notDelivered = Self(
        code: .notConnected, description: "no broker could be reached in time; nothing was sent")
    static let outboxFull = Self(
        code: .outboxFull, description: "the outbox is full: the broker takes nothing, or there is none")
}
