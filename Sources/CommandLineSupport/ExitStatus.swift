/// How a tool ends. The numbers are those of `sysexits.h`, `timeout(1)` and the shell's signals.
package enum ExitStatus: Int32, Sendable, CaseIterable {
    case success = 0
    case usage = 64
    case dataRefused = 65
    case unreadableInput = 66
    case noBroker = 69
    case systemError = 71
    case cannotCreateSocket = 73
    case outputFailed = 74
    case gaveUp = 75
    case protocolViolation = 76
    case notPermitted = 77
    case timedOut = 124
    case interrupted = 130
    case terminated = 143

    /// One line for the help text.
    package var meaning: String {
        switch self {
        case .success: "done"
        case .usage: "wrong usage (a bad NAME, OBJECT or GLOB too)"
        case .dataRefused: "data refused: not UTF-8, not JSON, too large"
        case .unreadableInput: "a file can't be read"
        case .noBroker: "no broker at that path, or it went away"
        case .systemError: "system error"
        case .cannotCreateSocket: "can't create the socket"
        case .outputFailed: "output failed"
        case .gaveUp: "gave up waiting"
        case .protocolViolation: "what answers does not speak the protocol"
        case .notPermitted: "not permitted"
        case .timedOut: "--timeout before --count"
        case .interrupted: "ended by SIGINT"
        case .terminated: "ended by SIGTERM"
        }
    }
}
