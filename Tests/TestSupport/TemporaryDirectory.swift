import Glibc
package import UnixIO

/// A directory in `/tmp` for one test, 0700, gone with its owner. Its path is short enough for a socket's.
package final class TemporaryDirectory {
    package let path: Path

    package init() throws {
        var template = Array("/tmp/notification-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TestFailure("mkdtemp failed: \(errno)") }
        path = Path(bytes: template.map { UInt8(bitPattern: $0) })
    }

    deinit {
        remove(path)
    }

    private func remove(_ path: Path) {
        let name = String(describing: path)
        if (try? FileStatus(of: path, followingLinks: false))?.kind == .directory {
            chmod(name, 0o700)
            for entry in (try? Self.entries(of: path)) ?? [] { remove(path.appending(entry)) }
            rmdir(name)
        } else {
            unlink(name)
        }
    }

    package static func entries(of path: Path) throws -> [String] {
        guard let directory = opendir(String(describing: path)) else {
            throw TestFailure("can't list \(path): \(errno)")
        }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }
}
