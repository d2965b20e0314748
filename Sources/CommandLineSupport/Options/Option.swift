/// An option of a tool: how it is written, and what the help says about it.
package struct Option: Sendable, Hashable {
    package let long: String
    package let short: Character?
    /// What the help calls its value; nil for a flag, which takes none.
    package let value: String?
    package let help: String

    package init(_ long: String, short: Character? = nil, value: String? = nil, help: String) {
        self.long = long
        self.short = short
        self.value = value
        self.help = help
    }

    package static func == (left: Option, right: Option) -> Bool { left.long == right.long }

    package func hash(into hasher: inout Hasher) { hasher.combine(long) }

    package static let help = Option("help", short: "h", help: "print this help and exit")
    package static let version = Option("version", help: "print the version and exit")
}
