package import ClientCore
package import Endpoint
package import UnixIO
internal import WireProtocol

/// A client with one thread of its own: it alternates between `nextEvent`, which looks only at what was read, and
/// `wait`, which is all I/O there is.
///
/// While it waits it reads and writes at once, as the broker and the kernel allow: so a broker whose queue for this
/// client is full, and which therefore does not read from it, never waits for a client that waits for the broker.
package final class BrokerClient {
    /// What a wait brought.
    package enum Turn: Sendable {
        /// Bytes came or went: ask for events.
        case progress
        /// Something of `watched` is ready; see there.
        case watched
        case deadline
        /// The connection is gone. With `reconnects` the next one is under way, if the end allows it.
        case ended(ConnectionEnd, Cause)
        /// An attempt to connect failed; there will be others.
        case stillGone(EndpointError)
        /// The connection is there, for the first time or again; what the session has to say goes out.
        case connected
    }

    package enum Cause: Hashable, Sendable {
        /// It was closed from the other side, or cut off.
        case closed
        /// What comes is not the protocol.
        case violation(String)
    }

    /// A failed attempt costs microseconds, so nobody need wait long for a broker that has come.
    static let schedule = ReconnectSchedule(first: .milliseconds(5), ceiling: .milliseconds(250))

    private struct Link: ~Copyable {
        let socket: StreamSocket
        var decoder = FrameDecoder(limit: Link.longestFrame)
        /// The other side takes no more; what it has said can still be read.
        var isWritable = true
        var violation: String?

        /// No broker has to keep to our limits: this one only tells a length from the beginning of other protocols'
        /// texts. Memory is taken for it as bytes come.
        static let longestFrame = 1 << 30
    }

    package let place: SocketPath
    package var session: ClientSession
    /// Whether `wait` connects again by itself.
    package var reconnects = false
    /// What `wait` watches besides the connection, and what it found.
    package var watched: [PollEntry] = []

    private var link: Link?
    private var nextAttempt: UInt64?
    private let decoder = BrokerMessageDecoder()
    private let input: ByteStorage
    private var entries: [PollEntry] = []
    private var generator = SystemRandomNumberGenerator()

    package init(_ place: SocketPath, greeting: String? = nil, readingAtOnce capacity: Int = 64 << 10) {
        self.place = place
        session = ClientSession(greeting: greeting, schedule: Self.schedule)
        input = ByteStorage(capacity: capacity)
    }

    /// Has `wait` connect, first at once and then again and again, as after a connection that ended.
    package func connectLater() {
        reconnects = true
        nextAttempt = MonotonicClock.now()
    }

    /// One attempt, which does not wait.
    package func connect() throws(EndpointError) {
        let socket = try ClientEndpoint.connect(to: place, until: 0)
        do throws(SystemError) {
            try socket.setBlocking(false)
        } catch {
            throw .system(place.path, error)
        }
        link = Link(socket: socket)
        nextAttempt = nil
        session.connected(at: MonotonicClock.now())
    }

    /// Bytes that wait for the kernel.
    package var unsentCount: Int { session.unsentCount }

    /// What has been read and not been told yet.
    package func nextEvent() -> ClientEvent? {
        while let message = nextMessage() {
            guard let event = session.receive(message) else { continue }
            if case .goodbye = event { link?.isWritable = false }
            return event
        }
        return nil
    }

    private func nextMessage() -> BrokerMessage? {
        guard link != nil, link?.violation == nil else { return nil }
        switch link?.decoder.next() {
        case .frame(let text):
            do throws(BrokerMessageError) {
                return try decoder.decode(text)
            } catch {
                link?.violation = error.description
            }
        case .failed(let error):
            link?.violation = "its answer is no frame: \(error.protocolError.message)"
        case .needsMore, nil:
            break
        }
        return nil
    }

    /// Reads, writes, connects again, and waits for one of these, for something watched, or for the deadline.
    package func wait(until deadline: UInt64?) throws(SystemError) -> Turn {
        guard link != nil else { return try waitWithoutConnection(until: deadline) }
        if let violation = link?.violation { return end(.violation(violation)) }
        if flush() { return .progress }
        let isStuck = session.unsentCount > 0 && link?.isWritable == true
        guard
            let readiness = try poll(
                link?.socket.number ?? -1, isStuck ? [.readable, .writable] : .readable, until: deadline)
        else { return .deadline }
        if readiness.contains(.writable) { _ = flush() }
        if readiness.tellsOfInput {
            switch read() {
            case .bytes, .wouldBlock: break
            case .endOfFile: return end(.closed)
            case .failed(let error) where error.isConnectionReset: return end(.closed)
            case .failed(let error): throw error
            }
        }
        return watchedIsReady ? .watched : .progress
    }

    private var watchedIsReady: Bool { watched.contains { !$0.readiness.isEmpty } }

    /// What the socket is ready for, which may be nothing if something watched is; nil when the deadline came.
    private func poll(_ socket: Int32, _ interest: Readiness, until deadline: UInt64?) throws(SystemError)
        -> Readiness?
    {
        if watched.isEmpty {
            let readiness = try PollEntry.wait(for: socket, interest, until: deadline)
            return readiness.isEmpty ? nil : readiness
        }
        entries.removeAll(keepingCapacity: true)
        entries.append(PollEntry(socket, interest))
        entries.append(contentsOf: watched)
        let count = try PollEntry.wait(for: &entries, until: deadline)
        for index in watched.indices {
            watched[index] = entries[index + 1]
        }
        return count > 0 ? entries[0].readiness : nil
    }

    /// Writes what the kernel takes at once; false if it took nothing.
    private func flush() -> Bool {
        guard session.unsentCount > 0, link?.isWritable == true else { return false }
        switch session.withUnsent({ bytes in link?.socket.write(bytes) ?? .closed }) {
        case .bytes(let count):
            session.kernelTook(count)
            return true
        case .closed, .failed:
            // Why, the reading side tells.
            link?.isWritable = false
        case .wouldBlock:
            break
        }
        return false
    }

    private func read() -> ReadOutcome {
        if let space = link?.decoder.directSpace(atLeast: input.capacity) {
            let outcome = link?.socket.read(into: space) ?? .endOfFile
            if case .bytes(let count) = outcome {
                link?.decoder.didFillDirectly(count)
            }
            return outcome
        }
        let space = UnsafeMutableRawBufferPointer(start: input.base, count: input.capacity)
        let outcome = link?.socket.read(into: space) ?? .endOfFile
        if case .bytes(let count) = outcome {
            link?.decoder.load(input, 0..<count)
        }
        return outcome
    }

    private func end(_ cause: Cause) -> Turn {
        link = nil
        let now = MonotonicClock.now()
        let end = session.connectionEnded(at: now, using: &generator)
        if reconnects, case .reconnect(let delay) = end.next {
            nextAttempt = now + delay.nanoseconds
        }
        return .ended(end, cause)
    }

    private func waitWithoutConnection(until deadline: UInt64?) throws(SystemError) -> Turn {
        let stop = [deadline, nextAttempt].compactMap(\.self).min()
        if try poll(-1, [], until: stop) != nil { return .watched }
        guard let attempt = nextAttempt, attempt <= MonotonicClock.now() else { return .deadline }
        do throws(EndpointError) {
            try connect()
            return .connected
        } catch {
            nextAttempt = MonotonicClock.now() + session.connectingFailed(using: &generator).nanoseconds
            return .stillGone(error)
        }
    }
}
