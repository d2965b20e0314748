/// Cuts a stream of bytes into lines, however it was chunked. A line ends at `\n`; every other byte, `\r` and NUL too,
/// is data; after the end of the stream a last line without newline counts, an empty rest does not.
///
/// Each byte is looked at once: `searched` remembers how far there is known to be no newline, so a line of a gigabyte
/// in small pieces costs no more than one piece.
package struct LineBuffer: Sendable {
    private var bytes: [UInt8] = []
    private var start = 0
    private var searched = 0
    /// Nothing more will come.
    package private(set) var ended = false

    package init() {}

    /// How long the line is that has begun but not ended: what a caller bounds, if it bounds lines.
    package var unfinishedCount: Int { bytes.count - start }

    package mutating func append(_ chunk: ArraySlice<UInt8>) {
        if start > 0 && start >= bytes.count / 2 {
            bytes.removeSubrange(..<start)
            searched -= start
            start = 0
        }
        bytes.append(contentsOf: chunk)
    }

    /// The stream is at its end.
    package mutating func end() { ended = true }

    /// The next line, without its newline; nil until more comes, or for good after the end.
    package mutating func next() -> [UInt8]? {
        if let newline = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
            defer {
                start = newline + 1
                searched = start
            }
            return Array(bytes[start..<newline])
        }
        searched = bytes.count
        guard ended, start < bytes.count else { return nil }
        defer { start = bytes.count }
        return Array(bytes[start...])
    }
}
