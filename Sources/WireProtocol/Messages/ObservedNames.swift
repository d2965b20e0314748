/// The names that an observer asks for.
package enum ObservedNames: Hashable, Sendable {
    case name(String)
    /// Those that a glob matches, see `NamePattern`.
    case matching(String)
    case all
}
