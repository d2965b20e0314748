import CommandLineSupport
import Endpoint
import UnixIO
import WireProtocol

/// What a command line asks for, checked as far as that goes without a broker.
struct SendOptions {
    enum Data {
        /// Ready JSON.
        case userInfo([UInt8])
        /// One line of standard input.
        case line
        /// Every line of standard input.
        case lines
        case nothing
    }

    let place: SocketPath
    let data: Data
    let receivers: Int
    let waitsForBroker: Bool
    let printsReceipts: Bool
    let isQuiet: Bool
    let name: String
    let object: String?
    let retention: Post.Retention
    private let deliversImmediately: Bool
    /// `{"KEY":`
    private let opening: [UInt8]
    private let timeout: Duration

    init(_ arguments: Arguments) throws(Failure) {
        try arguments.refuseOperands(beyond: 1)
        place = try arguments.place()
        name = try arguments.name(.name) ?? "DataNotification"
        object = try arguments.object(.object)
        let key = try arguments.text(.key, else: .dataRefused) ?? Array("data".utf8)
        var opening = [UInt8(ascii: "{")]
        JSONString.append(key, quotedTo: &opening)
        opening.append(UInt8(ascii: ":"))
        self.opening = opening
        receivers = try arguments.count(.waitReceivers, in: 0...Limits.awaitedObservers) ?? 0
        timeout = try arguments.seconds(.timeout) ?? .seconds(5)
        waitsForBroker = arguments.has(.waitBroker)
        printsReceipts = arguments.has(.printReceipt)
        isQuiet = arguments.has(.quiet)
        deliversImmediately = arguments.has(.deliverImmediately)
        retention = arguments.has(.clear) ? .clear : arguments.has(.retain) ? .keep : .none
        data = try Self.data(arguments, opening: opening)
    }

    private static func data(_ arguments: Arguments, opening: [UInt8]) throws(Failure) -> Data {
        if arguments.has(.clear) {
            try arguments.refuse([.retain, .key, .userInfo, .lines, .file], with: "--clear")
            try refuseOperand(arguments, with: "--clear")
            return .nothing
        }
        if let userInfo = arguments.bytes(.userInfo) {
            try arguments.refuse([.key, .lines, .file], with: "--user-info")
            try refuseOperand(arguments, with: "--user-info")
            try checkUserInfo(userInfo)
            return .userInfo(userInfo)
        }
        if arguments.has(.lines) {
            try arguments.refuse([.file], with: "--lines")
            try refuseOperand(arguments, with: "--lines")
            return .lines
        }
        if let file = arguments.bytes(.file) {
            try refuseOperand(arguments, with: "--file")
            let text = try InputFile.contents(file, atMost: longestText)
            try checkUTF8(text, in: Failure.quoted(file), else: .dataRefused)
            return .userInfo(userInfo(opening, text))
        }
        guard let text = arguments.operands.first else { return .line }
        try checkUTF8(text, in: "DATA", else: .dataRefused)
        return .userInfo(userInfo(opening, text))
    }

    /// Far more than any broker takes; it bounds what is read before that is found out.
    static let longestText = 512 << 20

    private static func refuseOperand(_ arguments: Arguments, with option: String) throws(Failure) {
        guard let operand = arguments.operands.first else { return }
        throw Failure(.usage, "DATA \(Failure.quoted(operand)) does not go with \(option)")
    }

    private static func checkUserInfo(_ userInfo: [UInt8]) throws(Failure) {
        let fault = userInfo.withUnsafeBytes { JSONText.fault(in: $0, depth: 255) }
        if let fault {
            let words = fault.protocolError(depth: 255).message
            throw Failure(.dataRefused, "--user-info takes one JSON object; \(words)")
        }
        let space = Array(" \t\r\n".utf8)
        guard userInfo.first(where: { !space.contains($0) }) == UInt8(ascii: "{") else {
            throw Failure(.dataRefused, "--user-info takes a JSON object, not \(Failure.quoted(userInfo))")
        }
    }

    private static func userInfo(_ opening: [UInt8], _ text: [UInt8]) -> [UInt8] {
        var json = opening
        json.reserveCapacity(opening.count + text.count + 16)
        JSONString.append(text, quotedTo: &json)
        json.append(UInt8(ascii: "}"))
        return json
    }

    func post(userInfo: [UInt8]?) -> Post {
        Post(
            name: name, object: object, userInfo: userInfo, deliversImmediately: deliversImmediately,
            retention: retention)
    }

    func post(text: [UInt8]) -> Post {
        post(userInfo: Self.userInfo(opening, text))
    }

    /// The moment when a wait that begins then ends; nil is never.
    func deadline(from start: UInt64 = MonotonicClock.now()) -> UInt64? {
        timeout == .zero ? nil : start &+ timeout.nanoseconds
    }
}

extension SendOptions {
    static let tool = Tool(
        name: "send-data", version: Release.version, usage: "[OPTIONS] [DATA]",
        summary: """
            Posts {"data": DATA} as a notification, and ends when the broker has accepted it. Without DATA one line \
            of standard input is sent; at its end, `Nothing left to say`.
            """,
        options: {
            $0(.name) || $0(.object) || $0(.key) || $0(.userInfo) || $0(.lines) || $0(.file) || $0(.retain)
                || $0(.clear) || $0(.waitBroker) || $0(.deliverImmediately) || $0(.waitReceivers)
                || $0(.timeout) || $0(.printReceipt) || $0(.quiet) || $0(.socket)
        },
        exitStatuses: {
            [
                .success, .usage, .dataRefused, .unreadableInput, .noBroker, .systemError, .outputFailed,
                .gaveUp, .protocolViolation, .notPermitted, .interrupted, .terminated,
            ]
        })
}

extension Option {
    static let name = Option(
        "name", short: "n", value: "NAME", help: "the notification's name (default: DataNotification)")
    static let object = Option("object", short: "o", value: "OBJECT", help: "its object")
    static let key = Option(
        "key", short: "k", value: "KEY", help: "the userInfo key to put DATA under, instead of `data`")
    static let userInfo = Option(
        "user-info", short: "u", value: "JSON",
        help: "send this object as userInfo, byte for byte; no DATA then")
    static let lines = Option(
        "lines", short: "l", help: "one notification for each line of standard input, sent as they come")
    static let file = Option(
        "file", short: "f", value: "FILE", help: "DATA is the text of this file (-: standard input)")
    static let retain = Option("retain", short: "r", help: "keep it for later receivers")
    static let clear = Option(
        "clear", help: "forget what is kept under the name and object; there is no DATA then")
    static let waitBroker = Option(
        "wait-broker", short: "b", help: "without a broker wait for one, as long as --timeout says")
    static let deliverImmediately = Option(
        "deliver-immediately", short: "i", help: "deliver to suspended observers too")
    static let waitReceivers = Option(
        "wait-receivers", short: "w", value: "N", help: "wait until N receivers observe the name, then send")
    static let timeout = Option(
        "timeout", short: "t", value: "SECONDS",
        help: "give up waiting for the broker or for receivers (default: 5; 0: never)")
    static let printReceipt = Option(
        "print-receipt", short: "p", help: "print the broker's answer, one line for each notification")
}
