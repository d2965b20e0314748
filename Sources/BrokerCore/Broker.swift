package import WireProtocol

/// What a broker is, without a system call: bytes of connections in, bytes for connections out.
///
/// The owner of the sockets gives it what it read (`load`, `run`), asks it what to write (`gather`, `wrote`, `settle`), tells
/// it the time (`begin`) and does what it asks for (`takeEnded`, `takeResumed`, `isStopping`). One thread owns it; it is not
/// Sendable on purpose.
package final class Broker {
    package let configuration: Configuration
    let sessions = SessionTable()
    let delivery: Delivery
    let router: Router
    let pressure: Backpressure
    var access: AccessPolicy
    var retained: RetainedStore
    let busiest = BusiestNames()
    let encoder = NotificationEncoder()
    // Kept here: to ask the other module costs a call for each post.
    let encodingOverhead = NotificationEncoder.overhead
    let scanner: FrameScanner
    var monotonic: UInt64 = 0
    private(set) var wall: UInt64 = 0
    private var startedAt: UInt64?
    // SAFETY: none of the lists that each turn asks for is read or changed while it is being changed.
    @exclusivity(unchecked) var ended: [Int32] = []
    @exclusivity(unchecked) var leaving: [Int32] = []
    /// The clients whose frames were all processed since the last flush.
    @exclusivity(unchecked) var readers: [Int32] = []
    @exclusivity(unchecked) package var events: [BrokerEvent] = []
    var timed: [Int32] = []
    var nextCheck: UInt64?
    /// A frame that is to be tried again after a flush.
    private var held: UnsafeRawBufferPointer?
    /// The route of the last post, which holds as long as the router's version is this.
    var lastRoute = Router.Route.none
    var lastRouteVersion = UInt64.max
    /// The receivers that `choose` let a notification go to.
    // SAFETY: `chosenCapacity` of them, written by `choose` alone, never before where it reads, and read until it is called again.
    var chosen = UnsafeMutablePointer<Int32>.allocate(capacity: 0)
    var chosenCapacity = 0
    package internal(set) var isStopping = false
    /// Set by a client's `stop`.
    package internal(set) var wasAskedToStop = false
    /// The kernel's name of a process; asked for a status only.
    let programName: (Int32) -> [UInt8]?

    package init(_ configuration: Configuration, programName: @escaping (Int32) -> [UInt8]?) {
        self.configuration = configuration
        self.programName = programName
        let limits = configuration.limits
        router = Router(seed: configuration.seed)
        delivery = Delivery(
            sessions: sessions, keys: NotificationKeys(hash: ByteHash(seed: configuration.seed)),
            queueLimit: limits.queueBytes)
        pressure = Backpressure(
            sessions: sessions, patience: configuration.patience, queueLimit: limits.queueBytes)
        access = AccessPolicy(configuration)
        retained = RetainedStore(room: configuration.retainedBytes)
        scanner = FrameScanner(depth: limits.depth)
    }

    deinit {
        chosen.deallocate()
    }

    /// Begins a turn. The time of notifications never goes back, whatever the wall clock does.
    package func begin(_ moment: Moment) {
        monotonic = max(monotonic, moment.monotonic)
        wall = max(wall, moment.wall)
        if startedAt == nil { startedAt = monotonic }
    }

    /// The time of this turn.
    package var now: Moment { Moment(monotonic: monotonic, wall: wall) }

    var uptime: UInt64 { now.monotonic - (startedAt ?? now.monotonic) }

    // Connections.

    package enum Admission {
        case accepted(Int32)
        /// To be written before the connection is closed.
        case refused(goodbye: [UInt8], reason: String)
    }

    package func connect(_ credentials: Credentials) -> Admission {
        if let reason = access.admit(credentials.uid) {
            return .refused(goodbye: Self.goodbye(.refused, reason), reason: reason)
        }
        let session = sessions.add(
            credentials, isForeign: access.isForeign(credentials.uid),
            frameLimit: configuration.limits.frameBytes)
        session.lastProgress = now.monotonic
        router.reserve(slots: sessions.slotCount)
        delivery.reserve(slots: sessions.slotCount)
        return .accepted(session.slot)
    }

    package var connectionCount: Int { sessions.count }

    /// The number by which clients know the connection, and who is behind it.
    package func identity(_ slot: Int32) -> (connection: UInt64, pid: Int32, uid: UInt32, client: [UInt8]?)? {
        guard let session = sessions[slot] else { return nil }
        return (session.sender.connection, session.sender.pid, session.sender.uid, session.clientName)
    }

    /// Connections that are to be closed. Their slots are given out again when this was called.
    package func takeEnded() -> [Int32] {
        defer { ended.removeAll() }
        for slot in ended { sessions.remove(slot) }
        return ended
    }

    /// Those that `takeEnded` will answer.
    package var endedSlots: [Int32] { ended }

    /// Clients that are to be read again, or to be run on with what they have sent.
    package func takeResumed() -> [Int32] {
        pressure.takeResumed().filter { slot in
            // One that was eased may be paused still, and the other way round.
            guard isReading(slot), let session = sessions[slot] else { return false }
            session.hasSentMore = false
            restartFrameClock(session)
            return true
        }
    }

    /// Connections that were said goodbye to and whose kernel buffer is full: without more room there a client that doesn't
    /// read would never learn why it was cut.
    package func takeLeaving() -> [Int32] {
        if leaving.isEmpty { return [] }
        defer { leaving.removeAll() }
        return leaving
    }

    /// Clients that are not to be read for a moment.
    package func takeEased() -> [Int32] { pressure.takeNewlyEased() }

    package func isReading(_ slot: Int32) -> Bool {
        guard let session = sessions[slot] else { return false }
        return session.isOpen && !session.isPaused && !session.isEased
    }

    /// A client that is not read has sent more meanwhile.
    package func noteMore(_ slot: Int32) {
        guard let session = sessions[slot] else { return }
        pressure.noteMore(from: session, now: now.monotonic)
        lookAgainSoon()
    }

    // Input.

    /// Gives the broker bytes of a connection; `run` processes them. They are left where they are until the next flush.
    package func load(_ slot: Int32, _ storage: ByteStorage, _ range: Range<Int>) {
        guard let session = sessions[slot] else { return }
        delivery.statistics.bytesIn &+= UInt64(range.count)
        session.decoder.load(storage, range)
    }

    /// Where the rest of a long frame can be read to at once; nil if there is none under way.
    package func directSpace(_ slot: Int32) -> UnsafeMutableRawBufferPointer? {
        sessions[slot]?.decoder.directSpace(atLeast: 32 << 10)
    }

    /// How much of a connection's input to read at once, when so many connections have some.
    ///
    /// Much at once saves calls and wakes nobody for little; less keeps what is read, and what comes of it for all receivers,
    /// in the processor's caches.
    package func readSize(_ slot: Int32, of many: Int) -> Int {
        guard let session = sessions[slot] else { return Self.mostRead }
        let length = session.decoder.lastLength
        if length >= 8 << 10 { return Self.mostRead }
        if many > 2 { return max(8 << 10, Self.mostRead / 2 / many) }
        if session.recentCount > 16 { return Self.mostRead / 8 }
        if length < 256 { return Self.mostRead / 4 }
        return session.recentCount <= 4 ? Self.mostRead : Self.mostRead / 8
    }

    /// The greatest `readSize`.
    package static let mostRead = 256 << 10

    package func didFillDirectly(_ slot: Int32, _ count: Int) {
        delivery.statistics.bytesIn &+= UInt64(count)
        sessions[slot]?.decoder.didFillDirectly(count)
    }

    package enum Progress {
        /// All whole frames are processed.
        case needsInput
        /// A flush is needed before `run` can go on.
        case flushFirst
        /// The connection has had its share of this turn; `run` goes on in the next.
        case yielded
        /// The client is not read for now, or no more.
        case stopped
    }

    /// A turn's share of one connection, in bytes delivered to all receivers together.
    private static let bytesPerTurn = 8 << 20

    /// Processes a connection's frames.
    package func run(_ slot: Int32) -> Progress {
        guard let session = sessions[slot], session.isOpen else {
            held = nil
            return .stopped
        }
        if session.isEased, held == nil {
            session.decoder.stash()
            return .stopped
        }
        let decoder = session.decoder
        var delivered = 0
        while true {
            if session.isPaused {
                stopReading(session)
                return .stopped
            }
            if delivery.isFull { return .flushFirst }
            if delivered > Self.bytesPerTurn {
                decoder.stash()
                readers.append(slot)
                return .yielded
            }
            let text: UnsafeRawBufferPointer
            if let again = held {
                text = again
                held = nil
            } else {
                switch decoder.next() {
                case .frame(let frame): text = frame
                case .needsMore:
                    watchFrame(session)
                    readers.append(slot)
                    return .needsInput
                case .failed(let error):
                    fail(session, error.protocolError)
                    return .stopped
                }
            }
            session.frameDeadline = nil
            let outcome = process(text, of: session)
            if outcome < 0 {
                held = text
                return .flushFirst
            }
            delivered += outcome
            guard session.isOpen else { return .stopped }
        }
    }

    /// Whether something that was noted lies in the input, which must not be used again before a flush.
    package var holdsInput: Bool { delivery.holdsExternal }

    private func stopReading(_ session: Session) {
        session.decoder.stash()
        if session.decoder.buffered > 0 { pressure.noteMore(from: session, now: now.monotonic) }
        stopFrameClock(session)
        lookAgainSoon()
    }

    func stopFrameClock(_ session: Session) {
        guard let deadline = session.frameDeadline else { return }
        session.frameTimeLeft = deadline > now.monotonic ? deadline - now.monotonic : 0
        session.frameDeadline = nil
    }

    /// Sets the clock of a frame that has begun.
    private func watchFrame(_ session: Session) {
        guard !session.decoder.isEmpty else {
            session.frameDeadline = nil
            return
        }
        if session.frameDeadline == nil {
            session.frameDeadline = now.monotonic + configuration.frameTimeout
            watch(session, until: now.monotonic + configuration.frameTimeout)
        }
    }

    private func restartFrameClock(_ session: Session) {
        guard let left = session.frameTimeLeft else { return }
        session.frameTimeLeft = nil
        session.frameDeadline = now.monotonic + left
        watch(session, until: now.monotonic + left)
    }

    /// The client will send no more. What came whole before was processed.
    package func endInput(_ slot: Int32) {
        guard let session = sessions[slot], session.isOpen else { return }
        retire(session)
        delivery.dropReplays(session)
        session.state = .draining(until: now.monotonic + configuration.patience)
        watch(session, until: now.monotonic + configuration.patience)
        endIfWritten(session)
    }

    /// The connection is broken: nothing more can be read.
    package func breakOff(_ slot: Int32) {
        guard let session = sessions[slot] else { return }
        end(session)
    }
}

/// What an operator may want to know.
package enum BrokerEvent: Sendable {
    /// A slow receiver was cut.
    case cut(Int32, queuedBytes: Int)
    /// A frame was refused.
    case refused(Int32, ErrorCode)
    /// A client asked the broker to stop.
    case stopRequested(Int32)
}
