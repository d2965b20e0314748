import Glibc
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
        guard let end = end(before: mark) else { return nil }
        defer { taken = end + 1 }
        return Array(bytes[taken..<end])
    }

    /// Looked for by the C library: it is asked after each chunk, and a sanitizer would look at each byte each time.
    private func end(before mark: UInt8) -> Int? {
        bytes.withUnsafeBytes { bytes in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[taken...])
            guard let start = rest.baseAddress, let found = memchr(start, Int32(mark), rest.count) else {
                return nil
            }
            return taken + (UnsafeRawPointer(found) - start)
        }
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
