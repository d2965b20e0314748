package import WireProtocol

/// One observer of this client, the same one over all its connections. Ids grow in the order of registration
/// and are never used again; the label that the broker knows it by is the id in decimal.
package struct ObserverID: Hashable, Comparable, Sendable {
    package let number: UInt64

    package init(number: UInt64) {
        self.number = number
    }

    package init?(label: String) {
        guard let number = UInt64(label), String(number) == label else { return nil }
        self.number = number
    }

    package var label: String { String(number) }

    package static func < (first: ObserverID, second: ObserverID) -> Bool {
        first.number < second.number
    }
}

/// What an observer wants to see.
package struct Observation: Hashable, Sendable {
    package var names: ObservedNames
    package var object: String?
    package var overflow: Overflow

    package init(_ names: ObservedNames, object: String? = nil, overflow: Overflow = .wait) {
        self.names = names
        self.object = object
        self.overflow = overflow
    }
}
