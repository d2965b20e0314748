import WireProtocol

/// What one observer observes.
struct Observation {
    enum Subject {
        case everything
        case name([UInt8])
        case pattern([UInt8], NamePattern)

        func matches(_ name: [UInt8]) -> Bool {
            switch self {
            case .everything: true
            case .name(let own): own == name
            case .pattern(_, let pattern): name.withUnsafeBytes { pattern.matches($0) }
            }
        }

        /// The name or glob as `status` shows it.
        var text: [UInt8] {
            switch self {
            case .everything: [UInt8(ascii: "*")]
            case .name(let name): name
            case .pattern(let text, _): text
            }
        }
    }

    var subject: Subject
    var object: [UInt8]?
    var overflow: Overflow
}
