internal import Synchronization
package import UnixIO

/// Lets another thread end a server that runs in this process, or hold it up.
package final class ServerControl: Sendable {
    package enum Command: Equatable, Sendable {
        /// As SIGTERM does.
        case stop
        /// At once, without a word to anybody, as SIGKILL does.
        case abandon
        /// Does nothing until it is resumed, as SIGSTOP does.
        case stall
        case resume
    }

    private let commands = Mutex<[Command]>([])
    let wake: WakeDescriptor

    package init() throws(SystemError) {
        wake = try WakeDescriptor()
    }

    package func send(_ command: Command) {
        commands.withLock { $0.append(command) }
        wake.wake()
    }

    func take() -> [Command] {
        wake.clear()
        return commands.withLock { commands in
            defer { commands.removeAll() }
            return commands
        }
    }
}
