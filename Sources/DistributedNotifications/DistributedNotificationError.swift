/// What went wrong in this library.
///
/// One struct with an open set of codes: new codes may come, so a `switch` over ``code`` needs a `default`.
/// Every throwing function of the library throws it typed, except where a `Codable` conformance of Foundation's
/// asks for `any Error`.
public struct DistributedNotificationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code's name, for logs.
        public let rawValue: String

        /// Makes a code of that name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The code's name.
        public var description: String { rawValue }

        /// No connection to a broker; nothing was sent.
        public static let notConnected = Code(rawValue: "notConnected")
        /// The connection ended before the broker's answer: the broker may have accepted it or not.
        public static let outcomeUnknown = Code(rawValue: "outcomeUnknown")
        /// The center's outbox has no room.
        public static let outboxFull = Code(rawValue: "outboxFull")
        /// It took longer than allowed.
        public static let timedOut = Code(rawValue: "timedOut")
        /// The task was cancelled, or the center closed.
        public static let cancelled = Code(rawValue: "cancelled")
        /// A name, glob or object that no broker accepts.
        public static let invalidName = Code(rawValue: "invalidName")
        /// A value that can't be sent; ``DistributedNotificationError/keyPath`` tells which.
        public static let invalidValue = Code(rawValue: "invalidValue")
        /// A notification whose userInfo is not what the reader expects.
        public static let undecodable = Code(rawValue: "undecodable")
        /// Larger than the broker's limit for a frame.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// The broker refused; ``DistributedNotificationError/brokerCode`` has its word for it.
        public static let refused = Code(rawValue: "refused")
    }

    /// The kind of error.
    public var code: Code
    /// Where in the userInfo the fault is, as in `order.items[2].price`; nil where no value is at fault.
    public var keyPath: String?
    /// The broker's own error code, as in `limit-exceeded`, if it was the broker that refused.
    public var brokerCode: String?
    /// A sentence that says what went wrong.
    public var description: String

    /// Makes an error.
    public init(code: Code, keyPath: String? = nil, brokerCode: String? = nil, description: String) {
        self.code = code
        self.keyPath = keyPath
        self.brokerCode = brokerCode
        self.description = description
    }

    static func invalidValue(_ description: String) -> Self {
        Self(code: .invalidValue, keyPath: "", description: description)
    }

    /// The same error, seen from one level further out.
    func under(key: String) -> Self {
        var outer = self
        outer.keyPath = KeyPathText.joined(key, keyPath)
        return outer
    }

    func under(index: Int) -> Self {
        under(key: "[\(index)]")
    }
}

/// Key paths as text: members are joined by dots, elements follow in brackets.
enum KeyPathText {
    static func joined(_ head: String, _ tail: String?) -> String {
        guard let tail, !tail.isEmpty else { return head }
        if head.isEmpty { return tail }
        return tail.hasPrefix("[") ? head + tail : head + "." + tail
    }

    static func text(_ path: [any CodingKey]) -> String {
        path.reduce("") { joined($0, $1.intValue.map { "[\($0)]" } ?? $1.stringValue) }
    }
}
