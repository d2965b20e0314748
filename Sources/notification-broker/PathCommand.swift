import CommandLineSupport
import Endpoint
import UnixIO

/// Prints where the tools look for the broker. A path need not be UTF-8, so it goes out as bytes.
struct PathCommand {
    private let place: SocketPath

    init(_ arguments: Arguments) throws(Failure) {
        try arguments.allow([.socket], with: "path")
        place = try arguments.place()
        do throws(EndpointError) {
            try place.checkLength()
        } catch {
            throw Failure(error)
        }
    }

    func run() throws(Failure) -> ExitStatus {
        try printAll(place.path.bytes + [UInt8(ascii: "\n")])
        return .success
    }
}

/// Of the commands that print one answer. Nobody there to read it is no failure.
func printAll(_ bytes: [UInt8]) throws(Failure) {
    do throws(StandardOutput.Trouble) {
        try StandardOutput.write(bytes)
    } catch {
        if let failure = error.failure { throw failure }
    }
}
