import TestSupport
import Testing
import WireProtocol

@testable import BrokerCore

/// A broker, its clients and the kernel between them, with a clock that only the test moves.
///
/// It does what the server does around a broker, turn by turn, but each connection's way to the client holds `room`
/// bytes, and what lies there is read when the test, or a client that `reads`, takes it.
final class World {
    final class Client {
        let slot: Int32
        let connection: UInt64
        /// What the client has written and the broker not read yet.
        fileprivate(set) var sent: [UInt8] = []
        fileprivate var hasNews = false
        fileprivate(set) var isFinished = false
        fileprivate var isBroken = false
        /// What the kernel holds for the client.
        fileprivate(set) var held: [UInt8] = []
        /// What the client has read.
        fileprivate(set) var received: [UInt8] = []
        fileprivate var looked = 0
        fileprivate(set) var isClosed = false
        fileprivate var isReady = false
        /// Whether it takes everything at once.
        var reads: Bool
        /// How much the kernel holds for it, and how much more it can be asked to.
        var room: Int
        var extraRoom = 64 << 10

        init(slot: Int32, connection: UInt64, reads: Bool, room: Int) {
            self.slot = slot
            self.connection = connection
            self.reads = reads
            self.room = room
        }

        fileprivate func take(_ count: Int) {
            received += held.prefix(count)
            held.removeFirst(min(count, held.count))
        }
    }

    let broker: Broker
    private(set) var clients: [Client] = []
    private(set) var now: UInt64 = 1_000_000_000
    private(set) var events: [BrokerEvent] = []
    private var ready: [Client] = []
    private var storage = ByteStorage(capacity: 64 << 10)
    /// How many bytes are read of a client at once.
    var readSize = 64 << 10
    /// How often a connection had had its share of a turn.
    private(set) var yields = 0
    var checksInvariants = true

    static let second: UInt64 = 1_000_000_000

    init(queueBytes: Int = 10_000, _ configure: (inout Configuration) -> Void = { _ in }) {
        var configuration = Configuration(ownUser: 500, pid: 77, version: "1", instance: "i", seed: 11)
        configuration.limits.queueBytes = queueBytes
        configuration.allowedUsers = [600, 601]
        configure(&configuration)
        broker = Broker(configuration) { pid in pid == 1 ? nil : Array("program\(pid)".utf8) }
        begin()
    }

    private func begin() {
        broker.begin(Moment(monotonic: now, wall: now / 1000))
    }

    // What clients do.

    func connect(uid: UInt32 = 500, reads: Bool = true, room: Int = 2000) throws -> Client {
        guard let client = admitted(uid: uid, reads: reads, room: room) else {
            throw TestFailure("refused")
        }
        return client
    }

    func admitted(uid: UInt32, reads: Bool = true, room: Int = 2000) -> Client? {
        begin()
        let pid = Int32(100 + clients.count)
        guard case .accepted(let slot) = broker.connect(Credentials(pid: pid, uid: uid, gid: 9)) else {
            return nil
        }
        let connection = broker.identity(slot)?.connection ?? 0
        let client = Client(slot: slot, connection: connection, reads: reads, room: room)
        clients.append(client)
        return client
    }

    /// Writes frames, and lets everybody do what they can.
    func send(_ client: Client, _ frames: String...) throws {
        for frame in frames { write(client, framed(frame.utf8)) }
        try run()
    }

    /// Writes bytes; nobody does anything yet.
    func write(_ client: Client, _ bytes: [UInt8]) {
        client.sent += bytes
        client.hasNews = true
    }

    /// The client ends its writing side.
    func finish(_ client: Client) throws {
        client.isFinished = true
        client.hasNews = true
        try run()
    }

    /// The client is gone altogether; what it has sent can still be read.
    func vanish(_ client: Client) throws {
        client.isFinished = true
        client.isBroken = true
        client.hasNews = true
        client.held = []
        try run()
    }

    /// The client reads some bytes.
    func take(_ client: Client, _ count: Int) throws {
        client.take(count)
        try run()
    }

    /// The client reads all that it can get, and goes on doing so.
    func readAll(_ client: Client) throws {
        client.reads = true
        try run()
    }

    /// The frames that a client has read wholly and that were not looked at before.
    func news(_ client: Client) throws -> [JSONValue] {
        let whole = wholeFrames(client)
        return try texts(of: whole).map { try JSONValue(parsing: $0) }
    }

    func told(_ client: Client) throws -> [Told] {
        try texts(of: wholeFrames(client)).map { try Told($0) }
    }

    private func wholeFrames(_ client: Client) -> [UInt8] {
        let start = client.looked
        while client.looked + 4 <= client.received.count {
            let length = client.received[client.looked..<client.looked + 4].reduce(0) { $0 << 8 | Int($1) }
            guard client.looked + 4 + length <= client.received.count else { break }
            client.looked += 4 + length
        }
        return Array(client.received[start..<client.looked])
    }

    // Time.

    /// Lets time pass, with all that is due on the way.
    func pass(_ seconds: Double) throws {
        let target = now + UInt64(seconds * Double(Self.second))
        while let due = broker.deadline, due <= target {
            now = max(now, due)
            try run()
            if let next = broker.deadline, next <= now { throw TestFailure("the deadline does not move on") }
        }
        now = target
        try run()
    }

    // Turns, as the server does them.

    /// Turns until nothing more can be done without time or a client.
    func run() throws {
        for _ in 0..<100_000 {
            if try !turn() { return }
        }
        throw TestFailure("the broker does not come to rest")
    }

    /// Answers whether anything happened.
    func turn() throws -> Bool {
        begin()
        var acted = false
        for client in clients where client.reads && !client.held.isEmpty {
            client.take(client.held.count)
            acted = true
        }
        for client in clients where !client.isClosed { acted = serve(client) || acted }
        let resumed = ready
        ready = []
        for client in resumed {
            client.isReady = false
            if !client.isClosed { process(client) }
            acted = true
        }
        broker.tick { slot in self.client(slot)?.held.count ?? 0 }
        flush()
        for slot in broker.takeResumed() {
            if let client = client(slot) { makeReady(client) }
            acted = true
        }
        for slot in broker.takeEnded() {
            client(slot)?.isClosed = true
            acted = true
        }
        events += broker.events
        broker.events = []
        if checksInvariants { try checkInvariants() }
        return acted
    }

    private func client(_ slot: Int32) -> Client? {
        clients.last { $0.slot == slot && !$0.isClosed }
    }

    private func serve(_ client: Client) -> Bool {
        var acted = false
        if broker.isReading(client.slot), !client.isReady {
            if !client.sent.isEmpty || client.isFinished {
                read(client)
                acted = true
            }
        } else if client.hasNews, !client.sent.isEmpty {
            broker.noteMore(client.slot)
        }
        client.hasNews = false
        if broker.isBlocked(client.slot), client.held.count < client.room {
            broker.setBlocked(client.slot, false)
            write(client)
            acted = true
        }
        if client.isBroken { broker.endOutput(client.slot) }
        return acted
    }

    private func read(_ client: Client) {
        if client.sent.isEmpty { return broker.endInput(client.slot) }
        var sent = client.sent.prefix(readSize)
        if let space = broker.directSpace(client.slot) {
            let count = min(space.count, sent.count)
            space.copyBytes(from: sent.prefix(count))
            sent.removeFirst(count)
            client.sent.removeFirst(count)
            broker.didFillDirectly(client.slot, count)
        }
        if !isKnownUniquelyReferenced(&storage) { storage = ByteStorage(capacity: 64 << 10) }
        let count = min(storage.capacity, sent.count)
        if count > 0 {
            UnsafeMutableRawBufferPointer(start: storage.base, count: count).copyBytes(
                from: sent.prefix(count))
            client.sent.removeFirst(count)
            broker.load(client.slot, storage, 0..<count)
        }
        process(client)
    }

    private func process(_ client: Client) {
        while true {
            switch broker.run(client.slot) {
            case .flushFirst:
                flush()
                continue
            case .yielded:
                yields += 1
                makeReady(client)
            case .needsInput, .stopped: break
            }
            break
        }
        if broker.holdsInput { flush() }
    }

    private func makeReady(_ client: Client) {
        if client.isReady { return }
        client.isReady = true
        ready.append(client)
    }

    private func flush() {
        for slot in broker.takeLeaving() {
            guard let client = client(slot) else { continue }
            client.room += client.extraRoom
            client.extraRoom = 0
            broker.setBlocked(slot, false)
        }
        var index = 0
        while index < broker.touchedCount {
            let slot = broker.touched(at: index)
            index += 1
            if let client = client(slot) { write(client) }
        }
        broker.endFlush()
        _ = broker.takeEased()
    }

    private func write(_ client: Client) {
        var pieces = [Piece](repeating: .none, count: 16)
        while !broker.isBlocked(client.slot) {
            let count = pieces.withUnsafeMutableBufferPointer { broker.gather(client.slot, $0) }
            if count == 0 { break }
            if client.isBroken {
                broker.endOutput(client.slot)
                return
            }
            let total = pieces[..<count].reduce(0) { $0 + $1.count }
            var left = min(total, client.room - client.held.count)
            if left < total { broker.setBlocked(client.slot, true) }
            if left <= 0 { break }
            let taken = left
            for piece in pieces[..<count] where left > 0 {
                let step = min(left, piece.count)
                client.held += UnsafeRawBufferPointer(start: piece.start, count: step)
                left -= step
            }
            broker.wrote(client.slot, taken)
        }
        broker.settle(client.slot)
    }

    // What always holds between two turns.

    func checkInvariants() throws {
        let sessions = broker.sessions.sessions.compactMap { $0 }
        var observers = 0
        for session in sessions {
            let outlet = broker.sessions.outlets[Int(session.slot)]
            func require(_ holds: Bool, _ what: String) throws {
                if !holds { throw TestFailure("connection \(session.sender.connection): \(what)") }
            }
            try require(outlet.noted == 0 && session.pieces.isEmpty, "noted bytes after a flush")
            try require(outlet.queued == session.outbox?.bytes ?? 0, "charged \(outlet.queued) bytes")
            try require(!outlet.isTouched, "touched after a flush")
            try require(
                outlet.isMissingSome == (broker.sessions.losses[Int(session.slot)].missing.count > 0),
                "missing, or not")
            try require(Set(session.blockedOn).count == session.blockedOn.count, "paused twice on one")
            for slot in session.blockedOn {
                let isWaiter = broker.sessions[slot]?.waiters.contains(session.slot) ?? false
                try require(isWaiter, "paused on one that doesn't know")
            }
            for slot in session.waiters {
                let isPaused = broker.sessions[slot]?.blockedOn.contains(session.slot) ?? false
                try require(isPaused, "has a waiter that isn't paused")
            }
            try require(
                session.waiters.isEmpty || outlet.pending * 2 >= broker.configuration.limits.queueBytes,
                "has waiters with \(outlet.pending) bytes queued")
            observers += session.observers.count
        }
        let backlogged = sessions.count { $0.outbox != nil }
        let statistics = broker.delivery.statistics
        guard broker.delivery.backlogged == backlogged else { throw TestFailure("miscounted the backlogged") }
        guard statistics.observers == observers else { throw TestFailure("miscounted the observers") }
    }

    func pending(_ client: Client) -> Int { broker.queuedBytes(client.slot) }
    func isPaused(_ client: Client) -> Bool { broker.sessions[client.slot]?.isPaused ?? false }
}

/// A post; `bytes` is about what its userInfo has.
func post(_ name: String, id: Int? = nil, object: String? = nil, bytes: Int? = nil, retain: String? = nil)
    -> String
{
    var text = #"{"type":"post","name":"\#(name)""#
    if let id { text += #","id":\#(id)"# }
    if let object { text += #","object":"\#(object)""# }
    if let retain { text += #","retain":\#(retain)"# }
    if let bytes { text += #","userInfo":{"k":"\#(String(repeating: "x", count: bytes))"}"# }
    return text + "}"
}

func observe(
    _ label: String, name: String? = nil, match: String? = nil, object: String? = nil,
    overflow: String? = nil,
    id: Int? = nil
) -> String {
    var text = #"{"type":"addObserver","observer":"\#(label)""#
    if let name { text += #","name":"\#(name)""# }
    if let match { text += #","match":"\#(match)""# }
    if let object { text += #","object":"\#(object)""# }
    if let overflow { text += #","overflow":"\#(overflow)""# }
    if let id { text += #","id":\#(id)"# }
    return text + "}"
}

extension JSONValue {
    var type: String { self["type"]?.text ?? "" }
    var seq: Int { self["seq"]?.int ?? -1 }
}
