import ClientCore
import Endpoint
import Foundation
import UnixIO
import WireProtocol

/// What the I/O thread of a center does: connect, read, write what posting threads had to leave, and wait.
///
/// Frames are read and decoded outside the lock, which is taken for each message in turn, so that the reader stops just
/// where a channel is full; whom a message concerns is woken when all that was read is handed out.
struct CenterLoop {
    private enum Step {
        case connect
        case wait(until: UInt64?)
        case serve(Connection, Readiness, until: UInt64?)
        case end
    }

    private enum Reading {
        case goOn
        case paused
        case failed(String)
    }

    /// Announced limits are not yet known when the first frame comes.
    private static let frameLimit = 1 << 30
    private static let readsPerTurn = 4

    private let engine: CenterEngine
    private let waker: Waker
    private let storage = ByteStorage(capacity: 128 << 10)
    private let messages = BrokerMessageDecoder()
    private var frames = FrameDecoder(limit: frameLimit)

    init(engine: CenterEngine, waker: Waker) {
        self.engine = engine
        self.waker = waker
    }

    mutating func run() {
        while true {
            switch plan() {
            case .connect: connect()
            case .wait(let deadline): _ = wait(nil, [], until: deadline)
            case .serve(let connection, let interest, let deadline):
                serve(connection, interest, until: deadline)
            case .end:
                engine.withState(connecting: false) { state, effects in
                    state.expireAll(&effects)
                    state.end(&effects)
                }
                return
            }
        }
    }

    private func plan() -> Step {
        let now = MonotonicClock.now()
        return engine.withState(connecting: false) { state, effects in
            var deadline: UInt64?
            switch state.phase {
            case .idle, .running: break
            case .closing(let limit):
                if state.session.unsentCount == 0 || now >= limit { return .end }
                deadline = limit
            case .closed: return .end
            }
            switch state.link {
            case .untried: return .connect
            case .connected(let connection):
                var interest: Readiness = []
                if !state.isPaused { interest.insert(.readable) }
                if state.session.unsentCount > 0 && !state.isWriteClosed { interest.insert(.writable) }
                state.watch = .init(
                    reading: interest.contains(.readable), writing: interest.contains(.writable))
                return .serve(connection, interest, until: deadline)
            case .down(let nextAttempt):
                if now >= nextAttempt { return .connect }
                state.expirePosts(before: now - min(now, engine.bounds.postLife), &effects)
                // While posts wait it looks more often, so that they don't live much longer than they should.
                let look = state.session.unsentCount > 0 ? now + engine.bounds.shortPatience / 4 : nextAttempt
                return .wait(until: min(nextAttempt, min(look, deadline ?? .max)))
            case .refused:
                state.expireAll(&effects)
                return .wait(until: deadline)
            }
        }
    }

    private func wait(_ connection: Connection?, _ interest: Readiness, until deadline: UInt64?) -> Readiness
    {
        var entries = [PollEntry(waker.descriptor.number, .readable)]
        // Even a connection that is watched for nothing tells when the broker is gone.
        if let connection { entries.append(PollEntry(connection.socket.number, interest)) }
        do throws(SystemError) {
            try PollEntry.wait(for: &entries, until: deadline)
        } catch {
            preconditionFailure("waiting for two descriptors failed: \(error)")
        }
        if !entries[0].readiness.isEmpty { waker.descriptor.clear() }
        return entries.count > 1 ? entries[1].readiness : []
    }

    private mutating func connect() {
        let now = MonotonicClock.now()
        do throws(EndpointError) {
            let socket = try ClientEndpoint.connect(
                to: engine.place, until: now + engine.bounds.shortPatience)
            do throws(SystemError) {
                try socket.setBlocking(false)
            } catch {
                throw .system(engine.place.path, error)
            }
            frames = FrameDecoder(limit: Self.frameLimit)
            let connection = Connection(socket)
            engine.withState(connecting: false) { state, _ in
                state.connected(connection, at: MonotonicClock.now())
            }
        } catch {
            let reason = DistributedNotificationError(code: .notConnected, description: error.description)
            engine.withState(connecting: false) { state, effects in
                state.connectingFailed(reason, at: MonotonicClock.now(), &effects)
            }
        }
    }

    private mutating func serve(_ connection: Connection, _ interest: Readiness, until deadline: UInt64?) {
        if interest.contains(.readable) && !frames.isEmpty {
            // What was left when the reader paused comes before what the kernel has.
            guard finish(digest(), connection) else { return }
        }
        let readiness = wait(connection, interest, until: deadline)
        if readiness.contains(.writable) {
            engine.withState(connecting: false) { _, _ in }
        }
        if !readiness.tellsOfInput { return }
        if interest.contains(.readable) {
            read(connection)
        } else {
            engine.withState(connecting: false) { state, _ in state.isWriteClosed = true }
        }
    }

    private mutating func read(_ connection: Connection) {
        for _ in 0..<Self.readsPerTurn {
            // SAFETY: the storage is this loop's own, and all that was loaded before is used up or stashed.
            let space = UnsafeMutableRawBufferPointer(start: storage.base, count: storage.capacity)
            switch connection.socket.read(into: space) {
            case .bytes(let count):
                frames.load(storage, 0..<count)
                guard finish(digest(), connection) else { return }
                if count < storage.capacity { return }
            case .wouldBlock: return
            case .endOfFile:
                lose(connection, "the broker closed the connection")
                return
            case .failed(let error):
                lose(connection, "the connection to the broker failed: \(error.reason)")
                return
            }
        }
    }

    /// Hands out what was read. Wakes nobody before the end, so that one who wakes finds a whole batch.
    private mutating func digest() -> Reading {
        var effects = CenterState.Effects()
        defer { effects.perform() }
        while true {
            switch frames.next() {
            case .frame(let text):
                do throws(BrokerMessageError) {
                    let message = try messages.decode(text)
                    if engine.receive(message, &effects) {
                        frames.stash()
                        return .paused
                    }
                } catch {
                    return .failed("who listens there is no broker: \(error)")
                }
            case .needsMore: return .goOn
            case .failed(let error):
                return .failed("who listens there is no broker: \(error.protocolError.message)")
            }
        }
    }

    /// Whether reading may go on.
    private mutating func finish(_ reading: Reading, _ connection: Connection) -> Bool {
        switch reading {
        case .goOn: return true
        case .paused: return false
        case .failed(let reason):
            lose(connection, reason)
            return false
        }
    }

    private func lose(_ connection: Connection, _ reason: String) {
        engine.withState(connecting: false) { state, effects in
            state.connectionEnded(
                .init(code: .notConnected, description: reason), at: MonotonicClock.now(), &effects)
        }
    }
}
