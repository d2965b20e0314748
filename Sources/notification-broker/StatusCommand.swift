import BrokerClient
import ClientCore
import CommandLineSupport
import Endpoint
import UnixIO
import WireProtocol

/// Asks the running broker what it does, and shows it.
struct StatusCommand {
    private let place: SocketPath
    private let asJSON: Bool

    init(_ arguments: Arguments) throws(Failure) {
        try arguments.allow([.socket, .json], with: "status")
        place = try arguments.place()
        asJSON = arguments.has(.json)
    }

    func run() throws(Failure) -> ExitStatus {
        let report: StatusReport
        do throws(ClientFailure) {
            let client = BrokerClient(place)
            report = try client.connectAndReport(until: .briefly())
        } catch {
            throw Failure(error, at: place)
        }
        var output: [UInt8] = []
        if asJSON {
            RecordWriter(format: .json, endsWithNul: false, isTerminal: StandardOutput.isTerminal)
                .append(otherFrame: report.bytes[...], to: &output)
        } else {
            output = Array(StatusTable(report, place).text.utf8)
        }
        try printAll(output)
        return .success
    }
}

extension WaitLimit {
    /// Long enough for a broker that lives.
    static func briefly() -> WaitLimit {
        WaitLimit(deadline: MonotonicClock.now() + 5_000_000_000)
    }
}

extension BrokerClient {
    func connectAndReport(until limit: WaitLimit) throws(ClientFailure) -> StatusReport {
        try connect(waitingForBroker: false, until: limit)
        guard let request = session.status(detail: false) else { throw .noAnswer }
        switch try answer(to: request, until: limit) {
        case .status(let report): return report
        case .refused(let refusal): throw .refused(refusal)
        case .ok: throw .violation("it answers a question for its status with ok")
        }
    }
}
