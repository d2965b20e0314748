package import UnixIO

/// Why there is no listening or connected socket, by what can be done about it.
package enum EndpointError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Somebody serves the path already, a broker or another program.
    case inUse(Path)
    case noBroker(Path, SystemError)
    /// A broker is there, but its queue of new connections stayed full.
    case notAnswering(Path)
    case cannotCreate(Path, String)
    /// Whoever could write there could put himself in the broker's place, or the kernel says no.
    case notPermitted(Path, String)
    case pathTooLong(Path)
    /// A descriptor that the service manager passed is not one that can be listened on.
    case badPassedSocket(String)
    case system(Path, SystemError)

    /// What the kernel refused, in this layer's words.
    static func wording<Result: ~Copyable>(
        _ words: (SystemError) -> EndpointError, _ body: () throws(SystemError) -> Result
    ) throws(EndpointError) -> Result {
        do throws(SystemError) {
            return try body()
        } catch {
            throw words(error)
        }
    }

    package var description: String {
        switch self {
        case .inUse(let path): "\(path) is already served by a running broker or another program"
        case .noBroker(let path, let error):
            "no broker at \(path) (\(error.reason)); start notification-broker"
        case .notAnswering(let path): "the broker at \(path) does not answer"
        case .cannotCreate(let path, let reason): "cannot create the socket \(path): \(reason)"
        case .notPermitted(let path, let reason): "\(path): \(reason)"
        case .pathTooLong(let path):
            "the socket path is too long, \(path.bytes.count) bytes where \(SocketPath.lengthLimit) fit: \(path)"
        case .badPassedSocket(let reason): "LISTEN_FDS: \(reason)"
        case .system(let path, let error): "\(path): \(error)"
        }
    }
}
