internal import Glibc

/// What is done to paths.
package enum FileSystem {
    package static func openForReading(_ path: Path) throws(SystemError) -> Descriptor {
        Descriptor(adopting: Int32(try check("open", SystemCalls.open(path, O_RDONLY, mode: 0))))
    }

    /// Opens a lock file, makes it where it is missing, follows no link and waits for nobody.
    package static func openLockFile(_ path: Path) throws(SystemError) -> Descriptor {
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        let file = Descriptor(adopting: Int32(try check("open", SystemCalls.open(path, flags, mode: 0o600))))
        let status = try FileStatus(of: file.number)
        if status.uid == SystemCalls.effectiveUser, status.mode != 0o600 {
            // An odd umask would lock out the next one to come.
            try check("fchmod", SystemCalls.changeMode(file.number, 0o600))
        }
        return file
    }

    /// Locks an open file for as long as it is open; false if another open file holds the lock.
    package static func lock(_ descriptor: borrowing Descriptor) throws(SystemError) -> Bool {
        let result = SystemCalls.lock(descriptor.number)
        if result == -Int(EWOULDBLOCK) { return false }
        try check("flock", result)
        return true
    }

    /// With exactly this mode, whatever the umask. False if something is there already.
    package static func makeDirectory(_ path: Path, mode: UInt32) throws(SystemError) -> Bool {
        let result = SystemCalls.makeDirectory(path, mode: mode)
        if result == -Int(EEXIST) { return false }
        try check("mkdir", result)
        if try FileStatus(of: path, followingLinks: false).mode & 0o777 != mode {
            try check("chmod", SystemCalls.changeMode(path, mode))
        }
        return true
    }

    package static func remove(_ path: Path) throws(SystemError) {
        try check("unlink", SystemCalls.unlink(path))
    }

    /// Only an empty one.
    package static func removeDirectory(_ path: Path) throws(SystemError) {
        try check("rmdir", SystemCalls.removeDirectory(path))
    }

    /// The same place without links, `.` and `..`; nil if there is none.
    package static func resolve(_ path: Path) -> Path? {
        SystemCalls.realPath(path)
    }

    /// The whole file, at most so many bytes of it.
    package static func contents(of path: Path, limit: Int = .max) throws(SystemError) -> [UInt8] {
        let descriptor = try openForReading(path)
        return try Streams.readAll(descriptor.number, limit: limit)
    }
}
