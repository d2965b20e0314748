package import ClientCore
internal import Endpoint
package import UnixIO
package import WireProtocol

// For those who want one thing after the other.
extension BrokerClient {
    /// Connects. Waits where the broker's queue of new connections is full, and, if asked to, where there is no broker.
    package func connect(waitingForBroker: Bool, until limit: WaitLimit) throws(ClientFailure) {
        var schedule = Self.schedule
        var generator = SystemRandomNumberGenerator()
        while true {
            let trouble: EndpointError
            do throws(EndpointError) {
                return try connect()
            } catch {
                trouble = error
            }
            switch trouble {
            case .notAnswering: break
            case .noBroker where waitingForBroker: break
            default: throw .endpoint(trouble)
            }
            let now = MonotonicClock.now()
            if let deadline = limit.deadline, deadline <= now { throw .gaveUp(trouble) }
            let retry = now + schedule.nextDelay(using: &generator).nanoseconds
            try pause(until: min(retry, limit.deadline ?? .max), alarm: limit.alarm)
        }
    }

    private func pause(until moment: UInt64, alarm: Int32?) throws(ClientFailure) {
        let readiness: Readiness
        do throws(SystemError) {
            readiness = try PollEntry.wait(for: alarm ?? -1, .readable, until: moment)
        } catch {
            throw .system(error)
        }
        if !readiness.isEmpty { throw .interrupted }
    }

    /// The answer to a request; other events are passed over, but an error that names no request, which must be meant
    /// for this one.
    package func answer(to request: RequestID, until limit: WaitLimit) throws(ClientFailure) -> Answer {
        watched = limit.alarm.map { [PollEntry($0, .readable)] } ?? []
        while true {
            while let event = nextEvent() {
                switch event {
                case .answered(request, let answer): return answer
                case .refused(let refusal): throw .refused(refusal)
                default: break
                }
            }
            switch try turn(until: limit.deadline) {
            case .progress, .connected, .stillGone: break
            case .watched: throw .interrupted
            case .deadline: throw .noAnswer
            case .ended(let end, let cause): throw .ended(end, cause)
            }
        }
    }

    /// The acknowledgement of a request; whatever else is a failure.
    package func acknowledgement(
        of request: RequestID, until limit: WaitLimit
    ) throws(ClientFailure) -> Acknowledgement {
        switch try answer(to: request, until: limit) {
        case .ok(let acknowledgement): return acknowledgement
        case .refused(let refusal): throw .refused(refusal)
        case .status: throw .violation("it answers with figures that nobody asked for")
        }
    }

    package func turn(until deadline: UInt64?) throws(ClientFailure) -> Turn {
        do throws(SystemError) {
            return try wait(until: deadline)
        } catch {
            throw .system(error)
        }
    }
}
