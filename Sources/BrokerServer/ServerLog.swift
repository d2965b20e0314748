package import UnixIO

/// What the server tells an operator: one event at a time, never what clients send.
package enum ServerEvent: Sendable {
    /// Who is behind a connection.
    package struct Client: Sendable {
        package var connection: UInt64
        package var pid: Int32
        package var uid: UInt32
        /// What it calls itself.
        package var name: [UInt8]?
    }

    case listening(Path)
    case connected(Client)
    case disconnected(Client)
    case refusedConnection(pid: Int32, uid: UInt32, reason: String)
    case refusedFrame(Client, code: String)
    case cut(Client, queuedBytes: Int)
    case stopRequested(Client)
    case stopping(Signal?)
    case descriptorsExhausted(SystemError)
    case acceptFailed(SystemError)

    /// How much an operator wants to know before the event is told.
    package enum Level: Int, Comparable, Sendable {
        case failures, normal, everything

        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    package var level: Level {
        switch self {
        case .descriptorsExhausted, .acceptFailed: .failures
        case .listening, .refusedConnection, .cut, .stopRequested: .normal
        case .connected, .disconnected, .refusedFrame, .stopping: .everything
        }
    }

    /// The event in one line. What a client calls itself is shown without characters that could forge another.
    package var line: String {
        switch self {
        case .listening(let path): "listening on \(path)"
        case .connected(let client): "\(client) connected"
        case .disconnected(let client): "\(client) disconnected"
        case .refusedConnection(let pid, let uid, let reason):
            "refused a connection of pid \(pid), uid \(uid): \(reason)"
        case .refusedFrame(let client, let code): "refused a frame of \(client): \(code)"
        case .cut(let client, let queued):
            "cut \(client): it took nothing while senders waited for it, \(queued) bytes were queued"
        case .stopRequested(let client): "\(client) asked for the end"
        case .stopping(let signal):
            signal.map { "ending on signal \($0.rawValue)" } ?? "ending as asked"
        case .descriptorsExhausted(let error): "no connection can be accepted for now: \(error)"
        case .acceptFailed(let error): "a connection could not be accepted: \(error)"
        }
    }
}

extension ServerEvent.Client: CustomStringConvertible {
    package var description: String {
        let shown = name.map { " \"\(Self.harmless($0))\"" } ?? ""
        return "connection \(connection)\(shown) (pid \(pid), uid \(uid))"
    }

    /// Letters, digits and what else can't be mistaken for the log's own words.
    private static func harmless(_ name: [UInt8]) -> String {
        let text = String(decoding: name.prefix(80), as: UTF8.self)
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    let isPlain =
                        scalar.value >= 0x20 && scalar.value < 0x7F && scalar != "\"" && scalar != "\\"
                    return isPlain || scalar.properties.isAlphabetic ? scalar : "?"
                }))
    }
}
