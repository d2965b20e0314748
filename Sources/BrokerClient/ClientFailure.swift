package import ClientCore
package import Endpoint
package import UnixIO
package import WireProtocol

/// Why a client did not get what it asked for.
package enum ClientFailure: Error, Sendable {
    /// There is no way to a broker.
    case endpoint(EndpointError)
    /// There was none until the deadline.
    case gaveUp(EndpointError)
    /// The broker did not answer until the deadline.
    case noAnswer
    /// The alarm went off.
    case interrupted
    case refused(Refusal)
    case ended(ConnectionEnd, BrokerClient.Cause)
    case violation(String)
    case system(SystemError)
}
