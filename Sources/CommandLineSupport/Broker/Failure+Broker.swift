package import BrokerClient
internal import ClientCore
package import Endpoint
internal import UnixIO
package import WireProtocol

// What goes wrong between a tool and the broker, as exit statuses.
extension Failure {
    package init(_ error: EndpointError) {
        let status: ExitStatus =
            switch error {
            case .inUse, .noBroker: .noBroker
            case .notAnswering: .gaveUp
            case .cannotCreate: .cannotCreateSocket
            case .notPermitted: .notPermitted
            case .pathTooLong: .usage
            case .badPassedSocket, .system: .systemError
            }
        self.init(status, error.description)
    }

    package init(_ failure: ClientFailure, at place: SocketPath) {
        switch failure {
        case .endpoint(let error):
            self.init(error)
        case .gaveUp(.noBroker):
            self.init(.gaveUp, "gave up waiting for a broker at \(place.path); start notification-broker")
        case .gaveUp(let error):
            self.init(.gaveUp, error.description)
        case .noAnswer:
            self.init(.gaveUp, "the broker at \(place.path) does not answer: it is stopped, or very busy")
        case .interrupted:
            self.init(.interrupted, "interrupted")
        case .refused(let refusal):
            self.init(refusal)
        case .ended(let end, let cause):
            self.init(end.goodbye, cause, at: place)
        case .violation(let words):
            self.init(.protocolViolation, Self.violation(words, at: place))
        case .system(let error):
            self.init(.systemError, error.description)
        }
    }

    package init(_ refusal: Refusal) {
        let status: ExitStatus = refusal.code == .known(.notPermitted) ? .notPermitted : .dataRefused
        self.init(status, "the broker refused it: \(refusal.message)")
    }

    package init(_ goodbye: Goodbye?, _ cause: BrokerClient.Cause, at place: SocketPath) {
        switch (goodbye, cause) {
        case (let goodbye?, _) where goodbye.reason == .refused:
            self.init(.notPermitted, "the broker at \(place.path) refused the connection: \(goodbye.message)")
        case (let goodbye?, _):
            self.init(.noBroker, "the broker at \(place.path) ended the connection: \(goodbye.message)")
        case (nil, .closed):
            self.init(.noBroker, "the broker at \(place.path) went away")
        case (nil, .violation(let words)):
            self.init(.protocolViolation, Self.violation(words, at: place))
        }
    }

    private static func violation(_ words: String, at place: SocketPath) -> String {
        "what answers at \(place.path) does not speak the protocol: \(words)"
    }

    /// The same failure, with more to say.
    package func adding(_ words: String) -> Failure {
        Failure(status, "\(message); \(words)")
    }
}
