import Glibc
import TestSupport
import UnixIO

/// A copy of a descriptor that programs started from here would inherit, were it not for their starter.
func duplicateForChildren(_ number: Int32) -> Int32 { dup(number) }

func close(_ number: Int32) { _ = Glibc.close(number) }

/// Waits for a child's end; the number of the signal that ended it, or nil.
func waitForSignaled(_ pid: Int32) -> Int32? {
    var status: Int32 = 0
    guard waitpid(pid, &status, 0) == pid, status & 0x7F != 0 else { return nil }
    return status & 0x7F
}

func openForWriting(_ path: String) throws -> Descriptor {
    let number = open(path, O_WRONLY | Int32(O_CLOEXEC))
    guard number >= 0 else { throw TestFailure("can't open \(path): \(errno)") }
    return Descriptor(adopting: number)
}

/// The writing end of a pipe that has no other end any more.
func brokenPipe() throws -> Descriptor {
    let pipe = try Pipe()
    return Descriptor(adopting: fcntl(pipe.writing.number, F_DUPFD_CLOEXEC, 3))
}
