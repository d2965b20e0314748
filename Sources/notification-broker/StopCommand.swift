import BrokerClient
import ClientCore
import CommandLineSupport
import Endpoint
import UnixIO
import WireProtocol

/// Ends the running broker by asking it to, and waits until its process is gone.
///
/// Which process that is only the broker can tell (under socket activation the kernel names who listened first). It
/// is waited for, never signalled: a wrong number costs at most the time that the wait is given.
struct StopCommand {
    private let place: SocketPath

    init(_ arguments: Arguments) throws(Failure) {
        try arguments.allow([.socket], with: "stop")
        place = try arguments.place()
    }

    func run() throws(Failure) -> ExitStatus {
        let limit = WaitLimit.briefly()
        let client = BrokerClient(place)
        do throws(ClientFailure) {
            let report = try client.connectAndReport(until: limit)
            let process = Int32(exactly: report.figure("pid")).flatMap { try? Descriptor.endOfProcess($0) }
            try stop(client, limit)
            if let process {
                _ = try? PollEntry.wait(for: process.number, .readable, until: limit.deadline)
            }
        } catch {
            throw Failure(error, at: place)
        }
        return .success
    }

    /// Returns when the broker has closed the connection.
    private func stop(_ client: BrokerClient, _ limit: WaitLimit) throws(ClientFailure) {
        guard let request = client.session.stop() else { throw .noAnswer }
        do throws(ClientFailure) {
            _ = try client.acknowledgement(of: request, until: limit)
        } catch {
            // Somebody else was faster.
            if case .ended(let end, _) = error, end.goodbye?.reason == .shuttingDown { return }
            throw error
        }
        while true {
            while client.nextEvent() != nil {}
            switch try client.turn(until: limit.deadline) {
            case .ended: return
            case .deadline: throw .noAnswer
            case .progress, .watched, .stillGone, .connected: break
            }
        }
    }
}
