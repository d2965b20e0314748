/// What this process is and may do.
package enum CurrentProcess {
    package static var pid: Int32 { SystemCalls.processIdentifier }
    package static var effectiveUser: UInt32 { SystemCalls.effectiveUser }

    package static func exit(_ status: Int32) -> Never {
        SystemCalls.exit(status)
    }

    /// Keeps some MiB of freed memory for use again: large buffers that come and go would else cost a page fault for every 4 KiB.
    package static func keepFreedMemory() {
        SystemCalls.keepFreedMemory()
    }

    /// Gives the system what was kept.
    package static func releaseFreedMemory() {
        SystemCalls.releaseFreedMemory()
    }

    /// Lets go of the program's code in memory: what runs again is mapped again, and what only the start needed is not.
    package static func releaseCode() {
        SystemCalls.releaseCode()
    }

    /// A variable's bytes; nil if it is not set.
    package static func environment(_ name: String) -> [UInt8]? {
        SystemCalls.environment(name)
    }

    /// Only while no other thread is there.
    package static func removeFromEnvironment(_ name: String) {
        SystemCalls.removeFromEnvironment(name)
    }

    /// All variables as `NAME=VALUE`.
    package static func environment() -> [[UInt8]] {
        SystemCalls.environment()
    }

    /// What follows the process's name, byte for byte: Swift's own `arguments` repairs what is not UTF-8.
    package static func arguments() -> ByteStrings {
        var arguments = ByteStrings()
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index] else { break }
            // SAFETY: arguments are NUL-terminated and live as long as the process.
            arguments.append(SystemCalls.bytes(ofCString: argument))
        }
        return arguments
    }

    package struct DescriptorLimit: Equatable, Sendable {
        package var soft: UInt64
        package var hard: UInt64
    }

    package static func descriptorLimit() throws(SystemError) -> DescriptorLimit {
        var limit = DescriptorLimit(soft: 0, hard: 0)
        try check("getrlimit", SystemCalls.descriptorLimit(&limit.soft, &limit.hard))
        return limit
    }

    /// As many descriptors as the hard limit allows; answers the limit that holds then.
    package static func raiseDescriptorLimit() throws(SystemError) -> DescriptorLimit {
        let limit = try descriptorLimit()
        try check("setrlimit", SystemCalls.setDescriptorLimit(limit.hard, limit.hard))
        return DescriptorLimit(soft: limit.hard, hard: limit.hard)
    }

    /// The kernel's name of a process, of 15 bytes at most; nil if there is no such process.
    package static func programName(of pid: Int32) -> [UInt8]? {
        guard pid > 0, var name = try? FileSystem.contents(of: Path("/proc/\(pid)/comm"), limit: 64) else {
            return nil
        }
        if name.last == UInt8(ascii: "\n") { name.removeLast() }
        return name
    }
}
