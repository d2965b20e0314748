/// A file's path: bytes without NUL. The kernel knows no encoding, so text is only made of it to be shown.
package struct Path: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    package let bytes: [UInt8]

    /// What follows a NUL is left out, as the kernel would.
    package init(bytes: [UInt8]) {
        if let end = bytes.firstIndex(of: 0) {
            self.bytes = Array(bytes[..<end])
        } else {
            self.bytes = bytes
        }
    }

    package init(_ text: String) {
        self.init(bytes: Array(text.utf8))
    }

    package init(stringLiteral text: String) {
        self.init(text)
    }

    package var description: String { String(decoding: bytes, as: UTF8.self) }
    package var isAbsolute: Bool { bytes.first == Self.slash }

    /// The directory that holds it: `/a` of `/a/b`, `/` of `/b`, `.` of `b`.
    package var parent: Path {
        guard let last = bytes.lastIndex(of: Self.slash) else { return "." }
        guard let end = bytes[..<last].lastIndex(where: { $0 != Self.slash }) else { return "/" }
        return Path(bytes: Array(bytes[...end]))
    }

    /// What follows the last slash; empty if the path ends in one.
    package var lastComponent: ArraySlice<UInt8> {
        guard let last = bytes.lastIndex(of: Self.slash) else { return bytes[...] }
        return bytes[(last + 1)...]
    }

    /// `/`, `/a`, `/a/b` of `/a/b`; `a`, `a/b` of `a/b`.
    package var prefixes: [Path] {
        var found: [Path] = isAbsolute ? ["/"] : []
        for (index, byte) in bytes.enumerated() where byte != Self.slash {
            if index + 1 == bytes.count || bytes[index + 1] == Self.slash {
                found.append(Path(bytes: Array(bytes[...index])))
            }
        }
        return found
    }

    package func appending(_ component: String) -> Path {
        Path(bytes: bytes + (bytes.last == Self.slash ? [] : [Self.slash]) + component.utf8)
    }

    /// The same path with some text added to its last component.
    package func suffixed(_ text: String) -> Path {
        Path(bytes: bytes + text.utf8)
    }

    func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        (bytes + [0]).withUnsafeBytes { raw in
            // SAFETY: the buffer holds at least the NUL, so its base address is not nil.
            body(raw.assumingMemoryBound(to: CChar.self).baseAddress.unsafelyUnwrapped)
        }
    }

    private static let slash = UInt8(ascii: "/")
}
