import BrokerClient
import ClientCore
import CommandLineSupport
import Endpoint
import UnixIO
import WireProtocol

/// The broker that is measured: one that was there, or one that is started, and to be ended.
struct BrokerUnderTest {
    let place: SocketPath
    /// Its process, as it says itself, or as we know.
    let process: Int32
    private let own: OwnBroker?

    var isOwn: Bool { own != nil }

    init(_ options: BenchOptions) throws(Failure) {
        let client = BrokerClient(options.place)
        do throws(ClientFailure) {
            let limit = WaitLimit(deadline: MonotonicClock.now() + 5_000_000_000)
            try client.connect(waitingForBroker: false, until: limit)
            process = try client.processOfBroker(until: limit)
            place = options.place
            own = nil
            return
        } catch {
            if case .endpoint(.noBroker) = error, !options.isPlaceNamed {
                // One of its own will do.
            } else {
                throw Failure(error, at: options.place)
            }
        }
        let started = try OwnBroker()
        place = started.place
        process = started.process
        own = started
    }

    func end() { own?.end() }
}

extension BrokerClient {
    fileprivate func processOfBroker(until limit: WaitLimit) throws(ClientFailure) -> Int32 {
        guard let request = session.status(detail: false) else { return 0 }
        guard case .status(let report) = try answer(to: request, until: limit) else { return 0 }
        return Int32(truncatingIfNeeded: report.figure("pid"))
    }
}
