import UnixIO

/// What comes from a descriptor, kept until a test asks for it. Its stage reads it, whatever the test waits for, so that
/// nothing that a test started ever waits for the test.
package final class ByteStream {
    let descriptor: Descriptor
    package private(set) var bytes: [UInt8] = []
    /// Up to where the test has taken what came.
    private var taken = 0
    package private(set) var hasEnded = false

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Reads once what a descriptor that is ready has.
    func read() {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        switch chunk.withUnsafeMutableBytes({ Streams.read(descriptor.number, into: $0) }) {
        case .bytes(let count): bytes += chunk[..<count]
        case .wouldBlock: break
        // A terminal whose other side is closed fails with EIO, a socket may with ECONNRESET.
        case .endOfFile, .failed: hasEnded = true
        }
    }

    /// The bytes up to the next mark, which is dropped.
    package func take(upTo mark: UInt8) -> [UInt8]? {
        guard let end = bytes[taken...].firstIndex(of: mark) else { return nil }
        defer { taken = end + 1 }
        return Array(bytes[taken..<end])
    }

    func take(_ count: Int) -> [UInt8]? {
        guard bytes.count - taken >= count else { return nil }
        defer { taken += count }
        return Array(bytes[taken..<(taken + count)])
    }

    func peek(_ count: Int) -> ArraySlice<UInt8>? {
        bytes.count - taken >= count ? bytes[taken..<(taken + count)] : nil
    }

    package var untaken: ArraySlice<UInt8> { bytes[taken...] }
}
