import BrokerCore
import BrokerServer
public import DistributedNotifications
import Endpoint
import Foundation
import UnixIO
import WireProtocol

/// A broker inside a test: the real one, on a thread of this process and a socket in a temporary directory.
///
/// Its methods return when what they say has happened. Those that end a broker may be called when none runs.
public final class TestBroker: Sendable {
    /// Why a broker could not be started.
    public struct StartError: Error, CustomStringConvertible {
        /// What the system said.
        public let description: String
    }

    private struct Running {
        let control: ServerControl
        var ended: [CheckedContinuation<Void, Never>] = []
        var hasEnded = false
    }

    /// Where it listens. Other processes that the test starts find it with this as their `NOTIFICATION_BROKER_SOCKET`.
    public let socketPath: String
    private let directory: URL
    private let queueBytes: Int
    private let running = Locked<Running?>(nil)

    init(queueBytes: Int) throws {
        self.queueBytes = queueBytes
        directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("broker-\(UUID().uuidString.prefix(13))")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        socketPath = directory.appendingPathComponent("broker.sock").path
    }

    /// Another center on this broker, as another process would have.
    public func makeCenter() -> DistributedNotificationCenter {
        DistributedNotificationCenter(socketPath: socketPath)
    }

    /// Starts a broker where none runs. It has nothing of what an earlier one retained.
    ///
    /// - Throws: ``StartError``.
    public func start() async throws {
        let control = try ServerControl()
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            running.withLock { $0 = Running(control: control) }
            let thread = Thread { [self] in
                serve(control, started: continuation)
                didEnd(control)
            }
            thread.name = "TestBroker"
            thread.start()
        }
    }

    private func serve(_ control: ServerControl, started: CheckedContinuation<Void, any Error>) {
        var started: CheckedContinuation<Void, any Error>? = started
        do {
            let endpoint = try ListeningEndpoint(at: SocketPath(Path(socketPath), .given), mode: 0o600)
            let server = try Server(configuration(), at: endpoint, signals: nil, control: control) {
                event in
                guard case .listening = event else { return }
                started?.resume()
                started = nil
            }
            _ = try server.run()
        } catch {
            started?.resume(throwing: StartError(description: "the broker could not be started: \(error)"))
        }
    }

    /// Ends the broker as SIGKILL would: connections break without a word. Start it again with ``start()``.
    public func kill() async {
        await end(.abandon)
    }

    /// Ends the broker as SIGTERM would, with a goodbye to its clients, and starts one with a new instance.
    ///
    /// - Throws: ``StartError``.
    public func restart() async throws {
        await end(.stop)
        try await start()
    }

    /// The broker does nothing from now on, as if stopped by SIGSTOP, until ``resume()``.
    public func stall() {
        send(.stall)
    }

    /// Ends a ``stall()``.
    public func resume() {
        send(.resume)
    }

    private func send(_ command: ServerControl.Command) {
        running.withLock { $0 }?.control.send(command)
    }

    private func end(_ command: ServerControl.Command) async {
        send(command)
        await withCheckedContinuation { continuation in
            let isWaiting = running.withLock { running in
                guard running != nil, running?.hasEnded == false else { return false }
                running?.ended.append(continuation)
                return true
            }
            if !isWaiting { continuation.resume() }
        }
    }

    private func didEnd(_ control: ServerControl) {
        let waiting = running.withLock { running in
            guard running?.control === control else { return [CheckedContinuation<Void, Never>]() }
            running?.hasEnded = true
            defer { running?.ended = [] }
            return running?.ended ?? []
        }
        for continuation in waiting { continuation.resume() }
    }

    func removeFiles() {
        do {
            try FileManager.default.removeItem(at: directory)
        } catch {
            // A directory in the temporary one is left: no test depends on it.
        }
    }

    private func configuration() -> Configuration {
        var random = SystemRandomNumberGenerator()
        var configuration = Configuration(
            ownUser: CurrentProcess.effectiveUser, pid: CurrentProcess.pid, version: "test",
            instance: String(random.next(), radix: 16), seed: random.next())
        configuration.limits.queueBytes = queueBytes
        return configuration
    }
}
