internal import Glibc

/// What stands at a path or behind a descriptor.
package struct FileStatus: Equatable, Sendable {
    package enum Kind: Sendable {
        case regular, directory, link, socket, pipe, device
    }

    /// Two paths with the same identity are one file.
    package struct Identity: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64
    }

    package let kind: Kind
    package let uid: UInt32
    /// The permission bits, set-id and sticky included.
    package let mode: UInt32
    package let identity: Identity

    package init(of path: Path, followingLinks: Bool) throws(SystemError) {
        var result = stat()
        try check("stat", SystemCalls.status(path, followingLinks: followingLinks, &result))
        self.init(result)
    }

    /// nil if nothing stands there.
    package static func ifPresent(_ path: Path, followingLinks: Bool) throws(SystemError) -> FileStatus? {
        do throws(SystemError) {
            return try FileStatus(of: path, followingLinks: followingLinks)
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    package init(of number: Int32) throws(SystemError) {
        var result = stat()
        try check("stat", SystemCalls.status(number, &result))
        self.init(result)
    }

    private init(_ result: stat) {
        kind =
            switch result.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .link
            case S_IFSOCK: .socket
            case S_IFIFO: .pipe
            default: .device
            }
        uid = result.st_uid
        mode = result.st_mode & 0o7777
        identity = Identity(device: UInt64(result.st_dev), inode: UInt64(result.st_ino))
    }

    package var othersMayWrite: Bool { mode & 0o022 != 0 }
    package var isSticky: Bool { mode & 0o1000 != 0 }
}
