import Glibc
package import UnixIO

/// One test's world: a directory, a socket path, an environment, and everything that the test started in it.
///
/// Single-threaded. Whatever a test waits for, meanwhile all streams of all its processes and connections are read. What
/// still runs when the stage goes is killed.
package final class Stage {
    package let directory: TemporaryDirectory
    package var environment: [String: String]
    private var streams: [ByteStream] = []
    private var tools: [ToolProcess] = []

    package static let patience = 60.0

    package init() throws {
        directory = try TemporaryDirectory()
        let binaries = Executables.directory
        environment = [
            "HOME": "\(directory.path)", "PATH": "\(binaries):/usr/local/bin:/usr/bin:/bin",
            "NOTIFICATION_BROKER_SOCKET": "\(directory.path.appending("broker.sock"))",
        ]
        for name in [
            "LD_LIBRARY_PATH", "LLVM_PROFILE_FILE", "ASAN_OPTIONS", "TSAN_OPTIONS", "SWIFT_BACKTRACE",
        ] {
            environment[name] = CurrentProcess.environment(name).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    package var socket: Path { directory.path.appending("broker.sock") }

    package func path(_ name: String) -> Path { directory.path.appending(name) }

    /// A file in the stage's directory with these bytes.
    @discardableResult
    package func file(_ name: String, _ bytes: some Collection<UInt8>) throws -> Path {
        let path = path(name)
        guard let file = fopen("\(path)", "w") else { throw TestFailure("can't write \(path): \(errno)") }
        let written = Array(bytes).withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
        guard fclose(file) == 0, written == bytes.count else { throw TestFailure("can't write \(path)") }
        return path
    }

    package func contents(_ name: String) throws -> String {
        String(decoding: try FileSystem.contents(of: path(name)), as: UTF8.self)
    }

    func read(_ descriptor: consuming Descriptor) -> ByteStream {
        let stream = ByteStream(descriptor)
        streams.append(stream)
        return stream
    }

    /// Reads from a descriptor that stays the test's.
    package func read(_ number: Int32) -> ByteStream { read(Descriptor(adopting: duplicate(number))) }

    func forget(_ stream: ByteStream) { streams.removeAll { $0 === stream } }

    func add(_ tool: ToolProcess) { tools.append(tool) }

    /// Waits until the condition gives a value; looks at it again whenever something has happened. A condition that
    /// depends on other things (a file) is looked at now and then.
    package func wait<Value>(
        for what: @autoclosure () -> String, within seconds: Double = patience,
        _ condition: () throws -> Value?
    ) throws -> Value {
        let deadline = MonotonicClock.deadline(inSeconds: seconds) ?? .max
        while true {
            if let value = try condition() { return value }
            guard MonotonicClock.now() < deadline else {
                throw TestFailure(
                    "not within \(seconds) s: \(what())\n" + tools.map(\.summary).joined(separator: "\n"))
            }
            try pump(until: min(deadline, MonotonicClock.now() + 20_000_000))
        }
    }

    /// Holds that the condition stays true for that long, while all goes on.
    package func expect(_ what: String, during seconds: Double, _ condition: () throws -> Bool) throws {
        let end = MonotonicClock.deadline(inSeconds: seconds) ?? .max
        while MonotonicClock.now() < end {
            guard try condition() else { throw TestFailure("no longer: \(what)") }
            try pump(until: end)
        }
    }

    private func pump(until deadline: UInt64) throws {
        let open = streams.filter { !$0.hasEnded }
        let running = tools.filter { $0.watchesItsEnd }
        var entries = open.map { PollEntry($0.descriptor.number, .readable) }
        entries += running.map { PollEntry($0.endNumber, .readable) }
        try PollEntry.wait(for: &entries, until: deadline)
        for (stream, entry) in zip(open, entries) where !entry.readiness.isEmpty { stream.read() }
        for tool in running { try tool.lookForItsEnd() }
    }
}

/// The executables that were built with the tests, and what else tests run.
package enum Executables {
    package static let python: Path? = ["/usr/local/bin/python3", "/usr/bin/python3"].first {
        (try? FileStatus(of: $0, followingLinks: true)) != nil
    }

    /// Beside the test binary, which is this process.
    package static let directory: Path = FileSystem.resolve("/proc/self/exe")?.parent ?? "."
}
