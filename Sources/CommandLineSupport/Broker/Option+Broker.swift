package import Endpoint
import UnixIO
import WireProtocol

// The options that several tools have, and how their values become what the broker understands.
extension Option {
    package static let socket = Option(
        "socket", short: "S", value: "PATH", help: "the broker's socket, instead of the usual one")
    package static let quiet = Option(
        "quiet", short: "q", help: "no hints and no news on standard error, only failures")
}

extension Arguments {
    /// Where the broker is, or shall be.
    package func place() throws(Failure) -> SocketPath {
        let option = bytes(.socket)
        if option?.isEmpty == true { throw Failure(.usage, "--socket takes a path, not an empty text") }
        return SocketPath.resolve(option: option.map { Path(bytes: $0) })
    }

    package func names(_ option: Option) throws(Failure) -> [String] {
        try texts(option).map { bytes throws(Failure) in try name(bytes, of: option) }
    }

    /// The last one counts.
    package func name(_ option: Option) throws(Failure) -> String? {
        guard let bytes = try text(option) else { return nil }
        return try name(bytes, of: option)
    }

    private func name(_ bytes: [UInt8], of option: Option) throws(Failure) -> String {
        let name = String(decoding: bytes, as: UTF8.self)
        try refuse(NameRules.fault(inName: name), of: option, bytes)
        return name
    }

    package func globs(_ option: Option) throws(Failure) -> [String] {
        try texts(option).map { bytes throws(Failure) in
            let glob = String(decoding: bytes, as: UTF8.self)
            try refuse(NameRules.fault(inGlob: glob), of: option, bytes)
            return glob
        }
    }

    package func object(_ option: Option) throws(Failure) -> String? {
        guard let bytes = try text(option) else { return nil }
        let object = String(decoding: bytes, as: UTF8.self)
        try refuse(NameRules.fault(inObject: object), of: option, bytes)
        return object
    }

    private func refuse(_ fault: NameRules.Fault?, of option: Option, _ bytes: [UInt8]) throws(Failure) {
        guard let fault else { return }
        throw Failure(.usage, "--\(option.long) \(Failure.quoted(bytes)) can't be used: \(fault)")
    }
}
