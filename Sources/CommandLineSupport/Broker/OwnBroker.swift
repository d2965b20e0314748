internal import BrokerClient
package import Endpoint
internal import UnixIO

/// The notification-broker beside this executable, on a socket in a directory of its own. Who has it started must end it.
package final class OwnBroker {
    package let place: SocketPath
    private let child: ChildProcess
    private let directory: Path

    package var process: Int32 { child.pid }

    package init() throws(Failure) {
        let random = String(UInt64.random(in: 1 ... .max), radix: 36)
        let directory = Path("/tmp/own-broker-\(random)")
        let place = SocketPath(directory.appending("broker.sock"), .given)
        let folder = FileSystem.resolve("/proc/self/exe")?.parent ?? "."
        let program = folder.appending("notification-broker")
        let isNew: Bool
        do throws(SystemError) {
            isNew = try FileSystem.makeDirectory(directory, mode: 0o700)
        } catch {
            throw Failure(.systemError, error.description)
        }
        guard isNew else { throw Failure(.systemError, "\(directory) is there already") }
        self.place = place
        self.directory = directory
        do throws(SystemError) {
            child = try ChildProcess(
                program: program,
                arguments: [program.bytes, Array("--quiet".utf8), Array("--socket".utf8), place.path.bytes],
                environment: CurrentProcess.environment())
        } catch {
            try? FileSystem.removeDirectory(directory)
            throw Failure(.noBroker, "no broker is running, and \(program) can't be started: \(error.reason)")
        }
        guard serves() else {
            end()
            throw Failure(.noBroker, "the broker that was started at \(place.path) does not serve")
        }
    }

    private func serves() -> Bool {
        do {
            // Should it end before, the rest of the time is not waited for.
            let end = try child.endDescriptor()
            let limit = WaitLimit(deadline: MonotonicClock.now() + 10_000_000_000, alarm: end.number)
            try BrokerClient(place).connect(waitingForBroker: true, until: limit)
            return true
        } catch {
            return false
        }
    }

    package func end() {
        try? child.send(.terminate)
        if let end = try? child.endDescriptor() {
            let limit = MonotonicClock.now() + 3_000_000_000
            let ended = try? PollEntry.wait(for: end.number, .readable, until: limit)
            if ended?.isEmpty ?? true { try? child.send(.kill) }
        }
        _ = try? child.wait()
        try? FileSystem.removeDirectory(directory)
    }
}
