import BrokerCore
import BrokerServer
import CommandLineSupport
import Endpoint
import UnixIO
import WireProtocol

/// Serves until a signal ends it.
struct RunCommand {
    let options: RunOptions

    /// Descriptors besides those of connections: standard streams, listener, lock, poller, signals, and some to spare.
    private static let ownDescriptors = 24

    private static let atOnce = WaitLimit(deadline: 0)

    func run() throws(Failure) -> ExitStatus {
        CurrentProcess.keepFreedMemory()
        // Before the socket is there, so that no signal finds it unattended.
        let signals = try Self.orFail { () throws(SystemError) in
            try SignalDescriptor([.interrupt, .terminate])
        }
        let limit = try Self.orFail { () throws(SystemError) in try CurrentProcess.raiseDescriptorLimit() }
        let endpoint = try listen()
        let notifySocket = CurrentProcess.environment("NOTIFY_SOCKET") ?? []
        for variable in ServiceManager.variables { CurrentProcess.removeFromEnvironment(variable) }
        let end = try serve(endpoint, signals, limit, notifying: notifySocket)
        switch end {
        case .drained, .abandoned(nil): return .success
        case .abandoned(let signal?): CurrentProcess.exit(signal.exitStatus)
        }
    }

    private static func orFail<Result: ~Copyable>(
        _ body: () throws(SystemError) -> Result
    ) throws(Failure) -> Result {
        do throws(SystemError) {
            return try body()
        } catch {
            throw Failure(.systemError, "\(error)")
        }
    }

    private func serve(
        _ endpoint: consuming ListeningEndpoint, _ signals: consuming SignalDescriptor,
        _ descriptors: CurrentProcess.DescriptorLimit, notifying notifySocket: [UInt8]
    ) throws(Failure) -> Server.End {
        let level: ServerEvent.Level =
            switch options.verbosity {
            case .quiet: .failures
            case .normal: .normal
            case .verbose: .everything
            }
        do throws(SystemError) {
            let server = try Server(configuration(descriptors), at: endpoint, signals: signals) { event in
                // A log that nobody reads loses lines; it doesn't hold up the broker.
                if event.level <= level { BrokerCommand.tool.say(event.line, until: Self.atOnce) }
                if case .listening = event {
                    Self.tellReady(notifySocket)
                    CurrentProcess.releaseCode()
                }
            }
            return try server.run()
        } catch {
            throw Failure(.systemError, "\(error)")
        }
    }

    private static func tellReady(_ notifySocket: [UInt8]) {
        if notifySocket.isEmpty { return }
        do throws(SystemError) {
            try ServiceManager.notifyReady(notifySocket)
        } catch {
            BrokerCommand.tool.say("the service manager could not be told: \(error)", until: atOnce)
        }
    }

    private func listen() throws(Failure) -> ListeningEndpoint {
        do throws(EndpointError) {
            if let passed = try ListeningEndpoint.passed() { return passed }
            return try ListeningEndpoint(at: options.place, mode: options.socketMode)
        } catch {
            throw Failure(error)
        }
    }

    private func configuration(_ descriptors: CurrentProcess.DescriptorLimit) -> Configuration {
        var random = SystemRandomNumberGenerator()
        let instance = String(random.next(), radix: 16)
        var configuration = Configuration(
            ownUser: CurrentProcess.effectiveUser, pid: CurrentProcess.pid, version: Release.version,
            instance: instance, seed: random.next())
        configuration.limits.queueBytes = options.queueBytes
        configuration.limits.frameBytes = options.frameBytes
        configuration.retainedBytes = options.retainedBytes
        configuration.patience = options.patience.nanoseconds
        configuration.frameTimeout = options.frameTimeout.nanoseconds
        configuration.allowedUsers = Set(options.allowedUsers)
        let room = max(1, Int(clamping: descriptors.soft) - Self.ownDescriptors)
        configuration.maxConnections = min(options.maxConnections ?? room, room)
        return configuration
    }
}
