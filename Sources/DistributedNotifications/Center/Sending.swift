public import Foundation
import WireProtocol

extension DistributedNotificationCenter {
    /// What the broker says of a post that it accepted.
    public struct Receipt: Sendable, Hashable {
        /// Its place in the order of all notifications of that broker instance.
        public var seq: UInt64
        /// The number of connections it was queued to.
        public var receivers: Int
        /// The instance that accepted it: a restarted broker counts anew.
        public var brokerInstance: String

        /// Makes a receipt.
        public init(seq: UInt64, receivers: Int, brokerInstance: String) {
            self.seq = seq
            self.receivers = receivers
            self.brokerInstance = brokerInstance
        }
    }

    /// Posts, and waits for the broker to accept it.
    ///
    /// In order with all other posts of this center.
    ///
    /// - Throws: `outcomeUnknown` if the connection ended before the answer: it may or may not be delivered, and is
    ///   not sent again. `notConnected` if no broker was there for 30 seconds, `outboxFull`, `invalidName`,
    ///   `invalidValue`, `tooLarge` and `refused`: it was not delivered. `cancelled` if the task was cancelled or the
    ///   center closed: it may be delivered nevertheless.
    @discardableResult
    public func send(
        name: Notification.Name, object: String? = nil, userInfo: UserInfo = [:], options: Options = []
    ) async throws(DistributedNotificationError) -> Receipt {
        try await send(try Post(name, object, userInfo.posted, options))
    }

    func send(_ post: Post) async throws(DistributedNotificationError) -> Receipt {
        let reply = try await engine.request(.send(post))
        return Receipt(
            seq: reply.seq, receivers: Int(clamping: reply.receivers), brokerInstance: reply.brokerInstance)
    }

    /// Waits until all that was posted before is with the broker, but for what ``Event/postFailed(_:_:)`` told.
    ///
    /// - Throws: `outcomeUnknown` if the connection ended meanwhile, `cancelled` if the task was cancelled or the center
    ///   closed.
    public func flush() async throws(DistributedNotificationError) {
        _ = try await engine.request(.flush)
    }

    /// Waits until a post of that name and object would reach at least so many connections. Without a broker it
    /// waits for one.
    ///
    /// While it waits this center reads on even where a stream's buffer is full, by some megabytes at most: the
    /// answer may stand behind.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - object: The object; nil is none.
    ///   - count: From 1 to 1,000,000.
    /// - Returns: How many connections there were.
    /// - Throws: `refused` if the broker does not take the request, `cancelled` if the task is cancelled or the center
    ///   closed.
    @discardableResult
    public func waitForObservers(
        of name: Notification.Name, object: String? = nil, atLeast count: Int = 1
    ) async throws(DistributedNotificationError) -> Int {
        let reply = try await engine.request(
            .awaitObservers(name: name.rawValue, object: object, count: UInt64(clamping: count)))
        return Int(clamping: reply.receivers)
    }
}

extension DistributedNotificationError {
    static func invalidName(_ fault: NameRules.Fault) -> Self {
        Self(code: .invalidName, description: "the name or object can't be sent: \(fault)")
    }
}
