/// Why a tool ends otherwise than well: its exit status, and what it says on standard error.
package struct Failure: Error, Equatable, Sendable {
    package let status: ExitStatus
    package let message: String

    package init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// A value that someone typed or sent, fit for a message: in quotes, and not longer than a line should be.
    package static func quoted(_ bytes: some Collection<UInt8>) -> String {
        let longest = 100
        let text = String(decoding: bytes.prefix(4 * longest), as: UTF8.self)
        guard text.count > longest || bytes.count > 4 * longest else { return "'\(text)'" }
        return "'\(text.prefix(longest))...' (\(bytes.count) bytes)"
    }
}

/// One message of a tool on standard error, as bytes: `TOOL: what is wrong` and a newline. Whatever control
/// characters came in with a name, a path or a broker's words are escaped, so that it is exactly one line.
package func messageLine(_ tool: String, _ message: String) -> [UInt8] {
    var line: [UInt8] = []
    ControlCharacters.escape(Array("\(tool): \(message)".utf8)[...], as: .braces, to: &line)
    line.append(UInt8(ascii: "\n"))
    return line
}
