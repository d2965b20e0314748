import Foundation

/// The broker beside this executable, on a socket of its own.
struct OwnBroker {
    /// What it wrote to standard error says why.
    struct NotStarted: Error {
        let status: Int32
    }

    let socketPath: String
    private let directory: URL
    private let process: Process
    private static let here = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()

    /// Returns when it listens.
    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "library-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        socketPath = directory.appendingPathComponent("broker.sock").path
        process = Process()
        process.executableURL = Self.here.deletingLastPathComponent().appendingPathComponent(
            "notification-broker")
        process.arguments = ["--quiet", "--socket", socketPath]
        try process.run()
        while process.isRunning, !FileManager.default.fileExists(atPath: socketPath) { usleep(1000) }
        guard process.isRunning else { throw NotStarted(status: process.terminationStatus) }
    }

    /// Starts a process that posts.
    func startPoster(_ load: Load, _ count: Int) throws -> Process {
        let poster = Process()
        poster.executableURL = Self.here
        poster.arguments = ["post", load.rawValue, socketPath, "\(count)"]
        poster.standardOutput = FileHandle.nullDevice
        try poster.run()
        return poster
    }

    func end() {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: directory)
    }
}
