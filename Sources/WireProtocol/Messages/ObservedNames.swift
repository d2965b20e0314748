/// The names that an observer asks for.
package enum ObservedNames: Hashable, Sendable {
    case name(String)
    /// Those that a glob matches, see `NamePattern`.
    case matching(String)
    case all
}

/// What the broker does for an observer when its connection's queue is full.
package enum OverflowPolicy: String, Hashable, Sendable, CaseIterable {
    /// Those who post to it are paused.
    case wait
    /// The newest is dropped.
    case drop
    /// What a later one of the same name and object replaces goes, then the oldest.
    case coalesce
}
