package import BrokerCore
package import Endpoint
package import UnixIO
internal import WireProtocol

/// The shell around a broker: it accepts, reads, feeds the broker, writes what comes out, and keeps its time.
///
/// One thread runs it, in turns: what is ready is read and processed, then everything that came out is written with one call
/// for each connection.
package final class Server {
    /// How the server's life ended.
    package enum End: Equatable, Sendable {
        /// After a stop: everybody had a goodbye, or time for one.
        case drained
        /// By a second signal, or because it was abandoned.
        case abandoned(Signal?)
    }

    private enum Token {
        static let listener: UInt64 = 0
        static let signals: UInt64 = 1
        static let control: UInt64 = 2
        static let firstConnection: UInt64 = 16
    }

    private let broker: Broker
    private let endpoint: ListeningEndpoint
    private let signals: SignalDescriptor?
    private let control: ServerControl?
    private let log: (ServerEvent) -> Void
    private let poller: Poller
    private var connections: [Connection?] = []
    private var receiveBuffer = ByteStorage(capacity: Broker.mostRead)
    // SAFETY: both are initialized, and of the same count.
    private let pieces = UnsafeMutableBufferPointer<Piece>.allocate(capacity: IOVector.most)
    private let vectors = UnsafeMutableBufferPointer<IOVector>.allocate(capacity: IOVector.most)
    // SAFETY: it is not read or changed while it is being changed.
    /// Connections that go on in the next turn without new input.
    @exclusivity(unchecked) private var ready: [Int32] = []
    /// Whether frames came that leave much freed memory behind.
    private var hasReadLongFrames = false
    /// How many descriptors the poller found ready in this turn.
    private var readyCount = 0
    private var isAccepting = true
    private var retryAccept: UInt64?
    private var isStalled = false

    private static let acceptsPerTurn = 64
    private static let longFrame = 1 << 20
    /// The most that one connection is written in one go.
    private static let writtenPerVisit = 4 << 20
    /// The time that clients have to take what is queued, and their goodbye, when the broker ends.
    private static let drainTime: UInt64 = 1_500_000_000

    /// `signals` end the server, the first in peace; `control` lets another thread do so.
    package init(
        _ configuration: Configuration, at endpoint: consuming ListeningEndpoint,
        signals: consuming SignalDescriptor?,
        control: ServerControl? = nil, log: @escaping (ServerEvent) -> Void
    ) throws(SystemError) {
        broker = Broker(configuration) { CurrentProcess.programName(of: $0) }
        self.endpoint = endpoint
        pieces.initialize(repeating: .none)
        vectors.initialize(repeating: IOVector(nil, 0))
        self.control = control
        self.log = log
        poller = try Poller()
        try poller.add(self.endpoint.socket.number, .readable, token: Token.listener)
        if let signals {
            try poller.add(signals.number, .readable, token: Token.signals)
            self.signals = consume signals
        } else {
            self.signals = nil
        }
        if let control { try poller.add(control.wake.number, .readable, token: Token.control) }
    }

    deinit {
        pieces.deallocate()
        vectors.deallocate()
    }

    /// Serves until it is stopped.
    package func run() throws(SystemError) -> End {
        log(.listening(endpoint.path))
        while true {
            let count = try poller.wait(until: ready.isEmpty ? nextDeadline : 0)
            broker.begin(
                Moment(monotonic: MonotonicClock.now(), wall: UInt64(max(0, WallClock.microseconds()))))
            readyCount = count
            for index in 0..<count {
                let event = poller.event(at: index)
                if let end = handle(event.token, event.readiness) { return end }
            }
            runReady()
            if let time = retryAccept, time <= broker.now.monotonic { watchListener(true) }
            broker.tick { self.connections[Int($0)]?.socket.unreadBytes() ?? 0 }
            tellEvents()
            flush()
            goOn()
            if broker.wasAskedToStop { beginEnd(nil) }
            if broker.isStopping, broker.connectionCount == 0 { return .drained }
        }
    }

    private var nextDeadline: UInt64? {
        guard let retryAccept else { return broker.deadline }
        return min(retryAccept, broker.deadline ?? retryAccept)
    }

    private func handle(_ token: UInt64, _ readiness: Readiness) -> End? {
        switch token {
        case Token.listener: accept()
        case Token.signals:
            while let signal = nextSignal() {
                if broker.isStopping { return .abandoned(signal) }
                beginEnd(signal)
            }
        case Token.control: return obey()
        default: serve(Int32(truncatingIfNeeded: token - Token.firstConnection), readiness)
        }
        return nil
    }

    private func nextSignal() -> Signal? {
        switch signals {
        case .some(let signals): signals.next()
        case .none: nil
        }
    }

    private func obey() -> End? {
        guard let control else { return nil }
        repeat {
            for command in control.take() {
                switch command {
                case .stop: beginEnd(nil)
                case .abandon: return .abandoned(nil)
                case .stall: isStalled = true
                case .resume: isStalled = false
                }
            }
            if isStalled { _ = try? PollEntry.wait(for: control.wake.number, .readable, until: nil) }
        } while isStalled
        return nil
    }

    // Connections.

    private func accept() {
        for _ in 0..<Self.acceptsPerTurn {
            guard isAccepting else { return }
            switch endpoint.socket.accept() {
            case .connection(let socket, let peer): admit(socket, peer)
            case .wouldBlock: return
            case .descriptorsExhausted(let error):
                log(.descriptorsExhausted(error))
                return pauseAccepting()
            case .failed(let error):
                log(.acceptFailed(error))
                return pauseAccepting()
            }
        }
    }

    private func admit(_ socket: consuming StreamSocket, _ peer: PeerCredentials) {
        switch broker.connect(Credentials(pid: peer.pid, uid: peer.uid, gid: peer.gid)) {
        case .refused(let goodbye, let reason):
            log(.refusedConnection(pid: peer.pid, uid: peer.uid, reason: reason))
            // Its kernel buffer is empty and takes it whole; if the client is gone already there is nobody to tell.
            _ = goodbye.withUnsafeBytes { socket.write($0) }
        case .accepted(let slot):
            let connection = Connection(socket)
            while connections.count <= Int(slot) { connections.append(nil) }
            connections[Int(slot)] = connection
            do throws(SystemError) {
                try poller.add(
                    connection.socket.number, .readable, token: Token.firstConnection + UInt64(slot))
            } catch {
                log(.acceptFailed(error))
                broker.breakOff(slot)
            }
            if let client = client(slot) { log(.connected(client)) }
        }
    }

    /// The listener stays readable while nothing can be accepted: it is not watched until a connection ends or some time
    /// has passed.
    private func pauseAccepting() {
        watchListener(false)
        retryAccept = broker.now.monotonic + 100_000_000
    }

    private func watchListener(_ watch: Bool) {
        guard isAccepting else { return }
        retryAccept = nil
        try? poller.modify(
            endpoint.socket.number, watch ? .readable : [], edgeTriggered: !watch, token: Token.listener)
    }

    private func serve(_ slot: Int32, _ readiness: Readiness) {
        guard let connection = connections[Int(slot)] else { return }
        if broker.isReading(slot), !connection.isReady {
            if readiness.tellsOfInput { read(slot, connection) }
        } else if readiness.contains(.readable), connection.socket.readableBytes() > 0 {
            broker.noteMore(slot)
        }
        if readiness.contains(.writable) {
            broker.setBlocked(slot, false)
            write(slot, connection)
        }
        // The peer is gone: what it sent can be read, but nothing can reach it.
        if readiness.tellsOfClosedOutput { broker.endOutput(slot) }
        updateWatch(slot, connection)
    }

    private func read(_ slot: Int32, _ connection: Connection) {
        if !isKnownUniquelyReferenced(&receiveBuffer) {
            receiveBuffer = ByteStorage(capacity: Broker.mostRead)
        }
        let storage = receiveBuffer
        let buffer = UnsafeMutableRawBufferPointer(
            start: storage.base, count: broker.readSize(slot, of: readyCount))
        if let space = broker.directSpace(slot) {
            if space.count > Self.longFrame { hasReadLongFrames = true }
            return take(connection.socket.read(into: space, then: buffer), of: slot, connection) {
                broker.didFillDirectly(slot, min($0, space.count))
                if $0 > space.count { broker.load(slot, storage, 0..<$0 - space.count) }
            }
        }
        take(connection.socket.read(into: buffer), of: slot, connection) {
            broker.load(slot, storage, 0..<$0)
        }
    }

    /// What a read found goes to the broker; `load` hands it the bytes.
    private func take(
        _ outcome: ReadOutcome, of slot: Int32, _ connection: Connection, load: (Int) -> Void
    ) {
        switch outcome {
        case .bytes(let count):
            load(count)
            process(slot, connection)
        case .wouldBlock: return
        case .endOfFile: broker.endInput(slot)
        case .failed: broker.breakOff(slot)
        }
    }

    private func process(_ slot: Int32, _ connection: Connection) {
        while true {
            switch broker.run(slot) {
            case .flushFirst:
                flush()
                continue
            case .yielded: makeReady(slot, connection)
            case .needsInput, .stopped: break
            }
            break
        }
        if broker.holdsInput { flush() }
        tellEvents()
    }

    private func makeReady(_ slot: Int32, _ connection: Connection) {
        if connection.isReady { return }
        connection.isReady = true
        ready.append(slot)
    }

    private func runReady() {
        let slots = ready
        ready.removeAll(keepingCapacity: true)
        for slot in slots {
            guard let connection = connections[Int(slot)] else { continue }
            connection.isReady = false
            process(slot, connection)
            updateWatch(slot, connection)
        }
    }

    private func updateWatch(_ slot: Int32, _ connection: Connection) {
        let wanted = Connection.Watch(
            isReading: broker.isReading(slot), isBlocked: broker.isBlocked(slot))
        if wanted == connection.watch { return }
        connection.watch = wanted
        try? poller.modify(
            connection.socket.number, wanted.interest, edgeTriggered: wanted.edgeTriggered,
            token: Token.firstConnection + UInt64(slot))
    }

    // Output.

    private func flush() {
        for slot in broker.takeLeaving() {
            connections[Int(slot)]?.socket.enlargeSendBuffer()
            broker.setBlocked(slot, false)
        }
        var index = 0
        while index < broker.touchedCount {
            let slot = broker.touched(at: index)
            index += 1
            if let connection = connections[Int(slot)] {
                write(slot, connection)
                updateWatch(slot, connection)
            }
        }
        broker.endFlush()
        for slot in broker.takeEased() {
            if let connection = connections[Int(slot)] { updateWatch(slot, connection) }
        }
    }

    private func write(_ slot: Int32, _ connection: Connection) {
        var written = 0
        while !broker.isBlocked(slot) {
            let count = broker.gather(slot, pieces)
            if count == 0 { break }
            var total = 0
            for index in 0..<count {
                vectors[index] = IOVector(pieces[index].start, pieces[index].count)
                total += pieces[index].count
            }
            switch connection.socket.write(gathering: UnsafeBufferPointer(rebasing: vectors[..<count])) {
            case .bytes(let taken):
                broker.wrote(slot, taken)
                written += taken
                if taken < total || written > Self.writtenPerVisit { broker.setBlocked(slot, true) }
            case .wouldBlock: broker.setBlocked(slot, true)
            case .closed, .failed:
                broker.endOutput(slot)
                broker.setBlocked(slot, false)
                return
            }
        }
        broker.settle(slot)
    }

    /// After a flush: clients that waited go on, connections that ended are closed.
    private func goOn() {
        for slot in broker.takeResumed() {
            guard let connection = connections[Int(slot)] else { continue }
            makeReady(slot, connection)
        }
        if broker.endedSlots.isEmpty { return }
        let clients = broker.endedSlots.compactMap(client)
        for slot in broker.takeEnded() { connections[Int(slot)] = nil }
        for client in clients { log(.disconnected(client)) }
        if retryAccept != nil { watchListener(true) }
        if hasReadLongFrames, broker.connectionCount == 0 {
            hasReadLongFrames = false
            CurrentProcess.releaseFreedMemory()
        }
    }

    private func client(_ slot: Int32) -> ServerEvent.Client? {
        broker.identity(slot).map {
            .init(connection: $0.connection, pid: $0.pid, uid: $0.uid, name: $0.client)
        }
    }

    private func tellEvents() {
        if broker.events.isEmpty { return }
        for event in broker.events {
            switch event {
            case .cut(let slot, let queued): client(slot).map { log(.cut($0, queuedBytes: queued)) }
            case .refused(let slot, let code):
                client(slot).map { log(.refusedFrame($0, code: code.rawValue)) }
            case .stopRequested(let slot): client(slot).map { log(.stopRequested($0)) }
            }
        }
        broker.events.removeAll()
    }

    // The end.

    private func beginEnd(_ signal: Signal?) {
        if broker.isStopping { return }
        log(.stopping(signal))
        isAccepting = false
        try? poller.remove(endpoint.socket.number)
        endpoint.removeFiles()
        retryAccept = nil
        // What clients wrote before now is still heard.
        for (index, connection) in connections.enumerated() {
            if let connection, broker.isReading(Int32(index)), !connection.isReady {
                read(Int32(index), connection)
            }
        }
        broker.stop(within: Self.drainTime)
        flush()
        for (index, connection) in connections.enumerated() {
            if let connection { updateWatch(Int32(index), connection) }
        }
        goOn()
    }
}
