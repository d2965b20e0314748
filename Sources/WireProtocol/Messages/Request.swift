/// What a client asks for. Strings lie in the frame; their spans are valid as long as its bytes are.
package enum Request {
    case hello(Hello)
    case post(Post)
    case addObserver(AddObserver)
    case removeObserver(label: FieldSpan)
    case awaitObservers(AwaitObservers)
    case ping
    case status(detail: Bool)
    case stop

    package struct Hello {
        package var client: FieldSpan?
        /// Whether features were named, which only a first frame may do.
        package var namesFeatures: Bool
    }

    package struct Post {
        package var name: FieldSpan
        package var object: FieldSpan?
        package var userInfo: FieldSpan?
        package var deliverImmediately: Bool
        package var retain: Retain
    }

    package enum Retain: Hashable, Sendable { case no, keep, clear }

    package struct AddObserver {
        package var label: FieldSpan
        package var subject: Subject
        package var object: FieldSpan?
        package var overflow: Overflow
    }

    package enum Subject {
        case everything
        case name(FieldSpan)
        case pattern(FieldSpan)
    }

    package struct AwaitObservers {
        package var name: FieldSpan
        package var object: FieldSpan?
        package var count: Int
    }
}

/// What happens when a connection's queue is full, from the most lossless on.
package enum Overflow: String, Hashable, Sendable, Comparable, CaseIterable {
    case wait, coalesce, drop

    /// How much may be lost.
    private var loss: Int {
        switch self {
        case .wait: 0
        case .coalesce: 1
        case .drop: 2
        }
    }

    package static func < (left: Overflow, right: Overflow) -> Bool { left.loss < right.loss }
}
