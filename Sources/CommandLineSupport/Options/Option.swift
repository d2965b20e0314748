/// An option of a tool: how it is written, and what the help says about it.
///
/// All of it is there when the program is loaded: a tool that runs for a millisecond has no time to build tables.
package struct Option: Sendable {
    package let long: StaticString
    package let short: Unicode.Scalar?
    /// What the help calls its value; nil for a flag, which takes none.
    package let value: StaticString?
    package let help: StaticString

    package init(
        _ long: StaticString, short: Unicode.Scalar? = nil, value: StaticString? = nil, help: StaticString
    ) {
        self.long = long
        self.short = short
        self.value = value
        self.help = help
    }

    var name: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: long.utf8Start, count: long.utf8CodeUnitCount)
    }

    func isWritten(_ name: ArraySlice<UInt8>) -> Bool { self.name.elementsEqual(name) }

    package static let help = Option("help", short: "h", help: "print this help and exit")
    package static let version = Option("version", help: "print the version and exit")

    var isHelp: Bool { name.elementsEqual(Self.help.name) }
    var isVersion: Bool { name.elementsEqual(Self.version.name) }
}
