import BrokerClient
import ClientCore
import CommandLineSupport
import Endpoint
import UnixIO
import WireProtocol

/// Observes, and shows what comes, until something ends it.
struct Receiver: ~Copyable {
    private enum End: Error {
        case status(ExitStatus)
        case failure(Failure)
    }

    /// Enough to make one write of many records.
    private static let outputAtOnce = 1 << 18

    private let options: ReceiveOptions
    private let signals: SignalDescriptor
    private let limit: WaitLimit
    private let client: BrokerClient
    private let writer: RecordWriter
    private let command: CommandRunner?
    private var output: [UInt8] = []
    private var distinct = DistinctNotifications()
    private var shown = 0
    /// What came before the last observer was confirmed; nil once all are.
    private var held: [ReceivedNotification]? = []
    private var hasObserved = false
    /// Why there is no connection.
    private var trouble: EndpointError?

    init(_ options: ReceiveOptions) throws(Failure) {
        self.options = options
        do throws(SystemError) {
            signals = try SignalDescriptor([.interrupt, .terminate])
        } catch {
            throw Failure(.systemError, error.description)
        }
        limit = WaitLimit(deadline: options.deadline, alarm: signals.number)
        client = BrokerClient(options.place, greeting: "receive-data")
        writer = RecordWriter(
            format: options.format, endsWithNul: options.endsWithNul, isTerminal: StandardOutput.isTerminal)
        command = options.command.map { CommandRunner(command: $0) }
    }

    mutating func run() throws(Failure) -> ExitStatus {
        do throws(End) {
            return try observe()
        } catch {
            switch error {
            case .status(let status): return status
            case .failure(let failure): throw failure
            }
        }
    }

    private mutating func observe() throws(End) -> ExitStatus {
        for observation in options.observations { _ = client.session.observe(observation) }
        client.connectLater()
        while true {
            client.watched = [PollEntry(signals.number, .readable), PollEntry(Streams.output, [])]
            switch try turn() {
            case .progress, .deadline:
                break
            case .connected:
                trouble = nil
            case .watched:
                if !client.watched[1].readiness.isEmpty { return .success }
            case .stillGone(let error):
                guard isWorthWaiting(error) else { throw .failure(Failure(error)) }
                trouble = error
            case .ended(let end, let cause):
                try connectionEnded(end.goodbye, cause)
            }
            try takeEvents()
            try flush()
            if let status = interruption() {
                if !hasObserved, status == .success || status == .timedOut {
                    guard let trouble else {
                        ReceiveOptions.tool.say(
                            "the broker at \(options.place.path) did not answer in time; nothing was observed"
                        )
                        return status
                    }
                    throw .failure(Failure(ClientFailure.gaveUp(trouble), at: options.place))
                }
                return status
            }
        }
    }

    /// Why it should end now, if it should.
    private func interruption() -> ExitStatus? {
        if let signal = signals.next() { return ExitStatus(endedBy: signal) }
        guard let deadline = limit.deadline, deadline <= MonotonicClock.now() else { return nil }
        return options.count == nil ? .success : .timedOut
    }

    private func isWorthWaiting(_ trouble: EndpointError) -> Bool {
        switch trouble {
        case .noBroker: options.waitsForBroker || hasObserved
        case .notAnswering: true
        case .inUse, .cannotCreate, .notPermitted, .pathTooLong, .badPassedSocket, .system: false
        }
    }

    private func turn() throws(End) -> BrokerClient.Turn {
        do throws(ClientFailure) {
            return try client.turn(until: limit.deadline)
        } catch {
            throw .failure(Failure(error, at: options.place))
        }
    }

    private mutating func takeEvents() throws(End) {
        while let event = client.nextEvent() {
            switch event {
            case .welcomed(let welcome):
                distinct.connected(welcome)
            case .observing where client.session.isObservingAll:
                try becomeReady()
            case .observerRefused(_, let refusal), .refused(let refusal):
                try flush()
                throw .failure(Failure(refusal))
            case .notification(let notification, _):
                if held == nil {
                    try show(notification)
                } else {
                    held?.append(notification)
                }
            case .gap(let gap):
                try tell(gap)
            case .observing, .stoppedObserving, .answered, .goodbye:
                break
            }
        }
    }

    private mutating func becomeReady() throws(End) {
        let waiting = held ?? []
        held = nil
        if hasObserved {
            say("observing again; what was posted meanwhile was missed")
        } else {
            hasObserved = true
            writer.appendReady(to: &output)
            try flush()
            signalReady()
            if options.count == 0 { throw .status(.success) }
        }
        for notification in waiting { try show(notification) }
    }

    private func signalReady() {
        guard let number = options.readyDescriptor else { return }
        let descriptor = Descriptor(adopting: number)
        let outcome = [UInt8(ascii: "\n")].withUnsafeBytes { Streams.writeAll($0, to: descriptor.number) }
        if outcome != .done {
            ReceiveOptions.tool.say("--ready-fd \(number) can't be written to: nobody is told")
        }
        _ = consume descriptor
        Streams.secureStandardStreams()
    }

    private mutating func show(_ notification: ReceivedNotification) throws(End) {
        guard !(options.leavesOutRetained && notification.isRetained), distinct.isNew(notification) else {
            return
        }
        if let command {
            try run(command, notification)
        } else {
            writer.append(value(of: notification), frame: notification.bytes[...], to: &output)
        }
        shown += 1
        if shown == options.count {
            try flush()
            throw .status(.success)
        }
        if output.count > Self.outputAtOnce { try flush() }
    }

    private func value(of notification: ReceivedNotification) -> ShownValue {
        switch notification.member(options.key) {
        case .string(let text): .text(text)
        case .json(let json): .json(json)
        case nil: notification.userInfo.map { .json(Array($0)) } ?? .none
        }
    }

    private func run(
        _ command: CommandRunner, _ notification: ReceivedNotification
    ) throws(End) {
        let input = CommandRunner.Input(
            name: notification.nameBytes, object: notification.objectBytes, value: value(of: notification),
            frame: notification.bytes[...])
        switch command.run(input, until: limit) {
        case .succeeded: break
        case .failed(let words): ReceiveOptions.tool.say(words, until: limit)
        case .interrupted: throw .status(interruption() ?? .success)
        }
    }

    private mutating func tell(_ gap: Gap) throws(End) {
        if command == nil { writer.append(otherFrame: gap.bytes[...], to: &output) }
        try flush()
        let missed = gap.count == 1 ? "1 notification was" : "\(gap.count) notifications were"
        ReceiveOptions.tool.say("\(missed) missed (seq \(gap.first) to \(gap.last))", until: limit)
    }

    /// News, of which a quiet receiver says nothing.
    private func say(_ words: String) {
        if !options.isQuiet { ReceiveOptions.tool.say(words, until: limit) }
    }

    private mutating func connectionEnded(
        _ goodbye: Goodbye?, _ cause: BrokerClient.Cause
    ) throws(End) {
        let failure = Failure(goodbye, cause, at: options.place)
        guard failure.status == .noBroker, options.reconnects, hasObserved else { throw .failure(failure) }
        held = []
        if goodbye?.reason == .slowReceiver && !options.overflowIsGiven {
            client.session.setOverflow(.drop)
            say(failure.adding("observing again with --overflow drop").message)
        } else {
            say(failure.adding("connecting again").message)
        }
    }

    private mutating func flush() throws(End) {
        guard !output.isEmpty else { return }
        defer { output.removeAll(keepingCapacity: true) }
        do throws(StandardOutput.Trouble) {
            try StandardOutput.write(output, until: limit)
        } catch {
            switch error {
            case .closed: throw .status(.success)
            case .interrupted: throw .status(interruption() ?? .success)
            case .failed: throw .failure(error.failure ?? Failure(.outputFailed, "standard output failed"))
            }
        }
    }
}
