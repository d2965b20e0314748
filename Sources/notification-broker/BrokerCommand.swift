import CommandLineSupport
import UnixIO
import WireProtocol

/// What the broker's program is asked to do: its first argument, or to serve.
enum BrokerCommand: String, CaseIterable {
    case run, status, path, stop

    init(_ arguments: Arguments) throws(Failure) {
        guard let word = arguments.operands.first else {
            self = .run
            return
        }
        let text = String(decoding: word, as: UTF8.self)
        guard let command = Self(rawValue: text) else {
            let advice =
                nearestWord(to: text, in: Self.allCases.map(\.rawValue)).map { "did you mean \($0)?" }
                ?? "it takes run, status, path or stop"
            throw Failure(.usage, "unknown command \(Failure.quoted(word)); \(advice)")
        }
        try arguments.refuseOperands(beyond: 1)
        self = command
    }

    static let tool = Tool(
        name: "notification-broker", version: Release.version,
        usage: """
            [run] [OPTIONS]
            status [--json] [-S PATH]
            path [-S PATH]
            stop [-S PATH]
            """,
        summary: """
            Relays notifications between processes, in the foreground, until SIGTERM or SIGINT. `status` shows what the \
            running broker does and for whom, `path` where its socket is, `stop` ends it.
            """,
        options: { RunOptions.all.contains(where: $0) || $0(.json) },
        exitStatuses: {
            [
                .success, .usage, .noBroker, .systemError, .cannotCreateSocket, .outputFailed, .gaveUp,
                .protocolViolation, .notPermitted,
            ]
        })
}

extension Option {
    static let json = Option("json", help: "status: print the broker's answer instead of a table")
}
