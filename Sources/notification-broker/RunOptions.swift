import CommandLineSupport
import Endpoint
import WireProtocol

/// How a broker serves. What nobody asked for is nil where the broker knows best itself.
struct RunOptions {
    enum Verbosity {
        case quiet, normal, verbose
    }

    let place: SocketPath
    let socketMode: UInt32
    let allowedUsers: [UInt32]
    let queueBytes: Int
    let frameBytes: Int
    let retainedBytes: Int
    let maxConnections: Int?
    let patience: Duration
    let frameTimeout: Duration
    let verbosity: Verbosity

    init(_ arguments: Arguments) throws(Failure) {
        try arguments.allow(Self.all, with: "run")
        place = try arguments.place()
        socketMode = try arguments.mode(.socketMode) ?? 0o600
        allowedUsers = try arguments.userIDs(.allowUID)
        let limits = Limits()
        queueBytes = try arguments.byteCount(.queueBytes, in: 1...Self.mostBytes) ?? limits.queueBytes
        frameBytes = try arguments.byteCount(.frameBytes, in: 1...Self.longestFrame) ?? limits.frameBytes
        retainedBytes = try arguments.byteCount(.retainedBytes, in: 0...Self.mostBytes) ?? 64 << 20
        maxConnections = try arguments.count(.maxConnections, in: 0...Int(Int32.max))
        patience = try arguments.seconds(.patience) ?? .seconds(3)
        frameTimeout = try arguments.seconds(.frameTimeout) ?? .seconds(10)
        verbosity = arguments.has(.quiet) ? .quiet : arguments.has(.verbose) ? .verbose : .normal
        if arguments.has(.quiet) { try arguments.refuse([.verbose], with: "--quiet") }
    }

    private static let mostBytes = 1 << 40
    /// Offsets in a frame have 32 bits, and clients take no longer one.
    private static let longestFrame = 1 << 30
}

extension RunOptions {
    static let all: [Option] = [
        .socket, .socketMode, .allowUID, .queueBytes, .frameBytes, .retainedBytes, .maxConnections, .patience,
        .frameTimeout, .quiet, .verbose,
    ]
}

extension Option {
    static let socketMode = Option(
        "socket-mode", value: "OCTAL", help: "the socket's permission bits (default: 0600)")
    static let allowUID = Option(
        "allow-uid", value: "UID",
        help: """
            a user that may connect besides the broker's own and root; may be given more than once. It must be able to \
            reach the socket, too: --socket-mode 0666, in a directory that it may enter
            """)
    static let queueBytes = Option(
        "queue-bytes", value: "N", help: "what is queued for one connection (default: 8M); N takes K, M, G")
    static let frameBytes = Option("frame-bytes", value: "N", help: "the longest frame (default: 16M)")
    static let retainedBytes = Option(
        "retained-bytes", value: "N", help: "room for retained notifications (default: 64M)")
    static let maxConnections = Option(
        "max-connections", value: "N",
        help: "refuse connections beyond it (default: what the limit of descriptors allows)")
    static let patience = Option(
        "patience", value: "SECONDS",
        help: "how long a receiver may take nothing while a sender waits for it (default: 3)")
    static let frameTimeout = Option(
        "frame-timeout", value: "SECONDS", help: "how long a frame may take to arrive (default: 10)")
    static let verbose = Option("verbose", short: "v", help: "log every connection, too")
}
