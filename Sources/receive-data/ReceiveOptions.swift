import ClientCore
import CommandLineSupport
import Endpoint
import UnixIO
import WireProtocol

/// What a command line asks for, checked as far as that goes without a broker.
struct ReceiveOptions {
    let place: SocketPath
    let observations: [Observation]
    let overflowIsGiven: Bool
    let key: [UInt8]
    let format: RecordFormat
    let endsWithNul: Bool
    let count: Int?
    let deadline: UInt64?
    let leavesOutRetained: Bool
    let waitsForBroker: Bool
    let readyDescriptor: Int32?
    let reconnects: Bool
    let command: [UInt8]?
    let isQuiet: Bool

    init(_ arguments: Arguments) throws(Failure) {
        try arguments.refuseOperands(beyond: 0)
        place = try arguments.place()
        let overflow = try arguments.choice(.overflow, of: Overflow.self)
        overflowIsGiven = overflow != nil
        observations = try Self.observations(
            arguments, overflow: overflow ?? (arguments.has(.all) ? .drop : .wait))
        key = try arguments.text(.key, else: .dataRefused) ?? Array("data".utf8)
        format = try arguments.choice(.format) ?? .label
        endsWithNul = arguments.has(.null)
        count = try arguments.count(.count, in: 0...Int.max)
        deadline = try arguments.seconds(.timeout).map { timeout in
            MonotonicClock.now() &+ timeout.nanoseconds
        }
        leavesOutRetained = arguments.has(.noRetained)
        waitsForBroker = arguments.has(.waitBroker)
        readyDescriptor = try Self.readyDescriptor(arguments)
        reconnects = !arguments.has(.noReconnect)
        command = arguments.bytes(.exec)
        isQuiet = arguments.has(.quiet)
    }

    private static func observations(
        _ arguments: Arguments, overflow: Overflow
    ) throws(Failure) -> [Observation] {
        let object = try arguments.object(.object)
        var names = try arguments.names(.name).map(ObservedNames.name)
        names += try arguments.globs(.match).map(ObservedNames.matching)
        if arguments.has(.all) { names.append(.all) }
        if names.isEmpty { names = [.name("DataNotification")] }
        return names.map { Observation($0, object: object, overflow: overflow) }
    }

    /// Looked at before this process opens anything that could get the number.
    private static func readyDescriptor(_ arguments: Arguments) throws(Failure) -> Int32? {
        guard let number = try arguments.count(.readyDescriptor, in: 0...Int(Int32.max)) else { return nil }
        guard Streams.isOpen(Int32(number)) else {
            throw Failure(
                .usage, "--ready-fd \(number) is no open descriptor; in a shell, open it with \(number)>FILE")
        }
        return Int32(number)
    }
}

extension ReceiveOptions {
    static let tool = Tool(
        name: "receive-data", version: Release.version, usage: "[OPTIONS]",
        summary: """
            Observes notifications, DataNotification if nothing else is asked for. Prints `NO DATA` when it is \
            observing, then `Received data: DATA` for each notification.
            """,
        options: {
            $0(.name) || $0(.match) || $0(.all) || $0(.object) || $0(.key) || $0(.format) || $0(.null)
                || $0(.count) || $0(.timeout) || $0(.noRetained) || $0(.overflow) || $0(.waitBroker)
                || $0(.readyDescriptor) || $0(.noReconnect) || $0(.exec) || $0(.quiet) || $0(.socket)
        },
        exitStatuses: {
            [
                .success, .usage, .dataRefused, .noBroker, .systemError, .outputFailed, .gaveUp,
                .protocolViolation, .notPermitted, .timedOut, .interrupted, .terminated,
            ]
        })
}

extension Option {
    static let name = Option(
        "name", short: "n", value: "NAME", help: "observe this name; may be given more than once")
    static let match = Option(
        "match", short: "m", value: "GLOB",
        help: "observe the names that match: * any run, ? one character, \\ takes the next literally")
    static let all = Option(
        "all", short: "a", help: "observe every name, without slowing anyone (--overflow drop)")
    static let object = Option("object", short: "o", value: "OBJECT", help: "only from this object")
    static let key = Option(
        "key", short: "k", value: "KEY", help: "the userInfo key to show, instead of `data`")
    static let format = Option(
        "format", short: "f", value: "FORMAT",
        help: "label: `Received data: DATA` (default); data: DATA alone; json: the whole frame, one line each"
    )
    static let null = Option("null", short: "0", help: "end each record with NUL, not a newline")
    static let count = Option("count", short: "c", value: "N", help: "exit after N notifications")
    static let timeout = Option("timeout", short: "t", value: "SECONDS", help: "stop then")
    static let noRetained = Option("no-retained", help: "leave out what was retained earlier")
    static let overflow = Option(
        "overflow", value: "POLICY",
        help: "when this receiver does not keep up: wait (pause the senders), drop (the newest) or coalesce")
    static let waitBroker = Option(
        "wait-broker", short: "b", help: "without a broker wait for one, as long as --timeout says")
    static let readyDescriptor = Option(
        "ready-fd", value: "N", help: "write a newline to this descriptor and close it when observing")
    static let noReconnect = Option("no-reconnect", help: "exit when the broker goes")
    static let exec = Option(
        "exec", value: "COMMAND",
        help: """
            run it by /bin/sh for each notification: the frame on its standard input, NOTIFICATION_NAME, \
            NOTIFICATION_OBJECT and NOTIFICATION_DATA in its environment
            """)
}
