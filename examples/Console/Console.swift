import Foundation

/// The screen and the keyboard of these examples. Unlike `print` it never keeps a line back, and unlike `readLine` it never
/// takes more than one.
package enum Console {
    /// Shows a line.
    package static func show(_ line: String) {
        write(line + "\n")
    }

    /// Shows a text without going to the next line.
    package static func write(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }

    /// Waits for a line; nil at the end of the input. It blocks: not for use in a task, see ``lines``.
    package static func line() -> String? {
        var line = Data()
        while let byte = try? FileHandle.standardInput.read(upToCount: 1), !byte.isEmpty {
            if byte.first == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line += byte
        }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    /// The lines of the input, read by a thread of their own.
    package static var lines: AsyncStream<String> {
        AsyncStream { continuation in
            Thread {
                while let line = line() { continuation.yield(line) }
                continuation.finish()
            }.start()
        }
    }
}
