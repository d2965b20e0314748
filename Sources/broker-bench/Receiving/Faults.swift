/// What was wrong with the deliveries.
struct Faults: Equatable, Sendable {
    var missing = 0
    var doubled = 0
    /// Out of its sender's order, or of the order that all see.
    var disordered = 0
    /// Not what was posted.
    var damaged = 0
    private(set) var first: String?

    var isEmpty: Bool { missing == 0 && doubled == 0 && disordered == 0 && damaged == 0 }

    mutating func note(_ words: @autoclosure () -> String) {
        if first == nil { first = words() }
    }

    mutating func add(_ other: Faults) {
        missing += other.missing
        doubled += other.doubled
        disordered += other.disordered
        damaged += other.damaged
        if let words = other.first { note(words) }
    }

    /// nil if there are none.
    var description: String? {
        guard !isEmpty else { return nil }
        let kinds = [
            (missing, "missing"), (doubled, "doubled"), (disordered, "out of order"), (damaged, "damaged"),
        ]
        let found = kinds.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        return "deliveries were \(found)" + (first.map { "; first: \($0)" } ?? "")
    }
}
