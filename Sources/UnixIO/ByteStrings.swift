/// Texts of any bytes, as a command line has them, in a row.
///
/// In two arrays of simple things. The type of an array of arrays the run-time would put together when a program starts, and
/// so the conformances of a collection of our own: that takes as long as to send a notification.
package struct ByteStrings: Sendable {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    package init() {}

    package init(_ texts: [[UInt8]]) {
        for text in texts { append(text) }
    }

    package var count: Int { ends.count }
    package var first: [UInt8]? { count > 0 ? Array(self[0]) : nil }
    package var all: [[UInt8]] { (0..<count).map { Array(self[$0]) } }

    package subscript(position: Int) -> ArraySlice<UInt8> {
        bytes[(position == 0 ? 0 : ends[position - 1])..<ends[position]]
    }

    package mutating func append(_ text: [UInt8]) {
        text.withUnsafeBufferPointer { append($0) }
    }

    package mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
        bytes.append(contentsOf: text)
        ends.append(bytes.count)
    }
}
