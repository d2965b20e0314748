import UnixIO

/// Standard input, read in pieces as they come. Wait for it with `descriptor` in a `PollEntry` beside whatever else may
/// happen meanwhile; one `read` then takes what is there without blocking.
package enum StandardInput {
    package static let descriptor = Streams.input

    package static var isTerminal: Bool { Streams.isTerminal(descriptor) }

    /// Reads once, into the lines. At the end of file, and where it was closed from the start, the lines are ended.
    package static func read(into lines: inout LineBuffer) throws(Failure) {
        try lines.read(from: descriptor, called: "standard input")
    }
}

extension LineBuffer {
    package mutating func read(from descriptor: Int32, called name: String) throws(Failure) {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        switch chunk.withUnsafeMutableBytes({ Streams.read(descriptor, into: $0) }) {
        case .bytes(let count): append(chunk[..<count])
        case .wouldBlock: break
        case .endOfFile: end()
        case .failed(let error) where error.isBadDescriptor: end()
        case .failed(let error): throw Failure(.unreadableInput, "can't read \(name): \(error.reason)")
        }
    }
}

/// The whole text behind `--file`.
package enum InputFile {
    /// `-` is standard input. Blocks until the end of file: call it while signals still end the process by themselves.
    package static func contents(_ path: [UInt8], atMost limit: Int) throws(Failure) -> [UInt8] {
        let name = path == [UInt8(ascii: "-")] ? "standard input" : Failure.quoted(path)
        let bytes: [UInt8]
        do throws(SystemError) {
            let most = limit == .max ? .max : limit + 1
            if path == [UInt8(ascii: "-")] {
                bytes = try Streams.readAll(Streams.input, limit: most)
            } else {
                bytes = try FileSystem.contents(of: Path(bytes: path), limit: most)
            }
        } catch {
            throw Failure(.unreadableInput, "can't read \(name): \(error.reason)")
        }
        guard bytes.count <= limit else {
            throw Failure(.dataRefused, "\(name) is too large: more than \(limit) bytes")
        }
        return bytes
    }
}
