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
        let longest = longestQuote
        let text = String(decoding: bytes.prefix(4 * longest), as: UTF8.self)
        guard text.count > longest || bytes.count > 4 * longest else { return "'\(text)'" }
        return "'\(text.prefix(longest))...' (\(bytes.count) bytes)"
    }

    private static let longestQuote = 100

    /// The same at the end of a message in bytes, without tables of characters where it is short.
    package static func append(quoted text: String, to message: inout [UInt8]) {
        guard text.utf8.count <= longestQuote else {
            message += quoted(text.utf8).utf8
            return
        }
        message.append(UInt8(ascii: "'"))
        message += text.utf8
        message.append(UInt8(ascii: "'"))
    }
}

/// One message of a tool on standard error, as bytes: `TOOL: what is wrong` and a newline. Whatever control
/// characters came in with a name, a path or a broker's words are escaped, so that it is exactly one line.
package func messageLine(_ tool: String, _ message: [UInt8]) -> [UInt8] {
    var line: [UInt8] = []
    ControlCharacters.escape((Array(tool.utf8) + Array(": ".utf8) + message)[...], as: .braces, to: &line)
    line.append(UInt8(ascii: "\n"))
    return line
}
