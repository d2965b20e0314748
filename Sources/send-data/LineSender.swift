import BrokerClient
import ClientCore
import CommandLineSupport
import Endpoint
import UnixIO
import WireProtocol

/// Posts every line of standard input as it comes, many of them under way at once.
///
/// Whatever breaks it off, it tells how many lines were accepted: so each line asks for an answer, and a signal or a
/// line that can't be sent only ends the sending; the answers to what was sent are still awaited for a while.
struct LineSender {
    private static let mostUnsent = 1 << 20
    private static let mostUnanswered = 1 << 14

    private let options: SendOptions
    private let client: BrokerClient
    private var lines = LineBuffer()
    private var receipts: ReceiptPrinter
    private var sent = 0
    private var answered = 0
    /// Why no further line is sent.
    private var stop: Failure?
    private var lastProgress: UInt64 = 0
    private var lastUnsent = 0

    init(_ options: SendOptions) {
        self.options = options
        client = BrokerClient(options.place)
        receipts = ReceiptPrinter(options)
    }

    private var unanswered: Int { sent - answered }

    private var mayGoOn: Bool {
        stop == nil && client.unsentCount < Self.mostUnsent && unanswered < Self.mostUnanswered
    }

    mutating func run() throws(Failure) -> ExitStatus {
        let signals: SignalDescriptor
        do throws(SystemError) {
            signals = try SignalDescriptor([.interrupt, .terminate])
        } catch {
            throw Failure(.systemError, error.description)
        }
        do throws(Failure) {
            try connect(alarm: signals.number)
            try sendLines(signals)
            if let stop { throw stop }
        } catch {
            let cause = signals.next().map(Failure.init(endedBy:)) ?? error
            throw cause.adding(account)
        }
        receipts.hint()
        return .success
    }

    private var account: String {
        let accepted =
            receipts.accepted == 1 ? "1 line was accepted" : "\(receipts.accepted) lines were accepted"
        return unanswered == 0 ? accepted : accepted + ", \(unanswered) more may still be delivered"
    }

    private func connect(alarm: Int32) throws(Failure) {
        let limit = WaitLimit(deadline: options.deadline(), alarm: alarm)
        do throws(ClientFailure) {
            try client.connect(waitingForBroker: options.waitsForBroker, until: limit)
        } catch {
            throw Failure(error, at: options.place)
        }
        try client.awaitReceivers(options, until: limit)
    }

    private mutating func sendLines(_ signals: borrowing SignalDescriptor) throws(Failure) {
        lastProgress = MonotonicClock.now()
        while true {
            try takeAnswers(alarm: signals.number)
            while mayGoOn, let line = lines.next() { send(line) }
            if unanswered == 0 && (stop != nil || lines.ended && mayGoOn) { return }
            let readsInput = mayGoOn && !lines.ended
            client.watched = [PollEntry(signals.number, .readable)]
            if readsInput {
                try lines.refuseTooLong()
                client.watched.append(PollEntry(StandardInput.descriptor, .readable))
            }
            switch try turn() {
            case .progress, .stillGone, .connected:
                break
            case .watched:
                if let signal = signals.next() { end(by: signal) }
                if readsInput && !client.watched[1].readiness.isEmpty { try readInput() }
            case .deadline:
                if let stop { throw stop }
                guard isBrokerAlive(alarm: signals.number) else {
                    throw Failure(.noAnswer, at: options.place)
                }
                lastProgress = MonotonicClock.now()
            case .ended(let end, let cause):
                // Of the others the kernel took nothing, or too little to make a frame.
                answered = sent - end.lost.count
                throw stop ?? Failure(end.goodbye, cause, at: options.place)
            }
        }
    }

    private mutating func send(_ line: [UInt8]) {
        if let offset = firstInvalidUTF8(in: line) {
            stop = Failure(.dataRefused, "line \(sent + 1) is not UTF-8 (at byte \(offset))")
            return
        }
        _ = client.session.send(options.post(text: line), at: lastProgress)
        if unanswered == 0 { lastProgress = MonotonicClock.now() }
        sent += 1
    }

    /// What can't be read any more leaves what was sent as it is.
    private mutating func readInput() throws(Failure) {
        do throws(Failure) {
            try StandardInput.read(into: &lines)
        } catch {
            stop = error
        }
    }

    private mutating func takeAnswers(alarm: Int32) throws(Failure) {
        let before = answered
        while let event = client.nextEvent() {
            switch event {
            case .answered(_, .ok(let receipt)):
                answered += 1
                receipts.note(receipt)
            case .answered(_, .refused(let refusal)):
                answered += 1
                refuse(refusal, line: answered)
            case .refused(let refusal):
                // Of the bytes themselves: the broker reads nothing that stands behind them.
                refuse(refusal, line: answered + 1)
                answered = sent
            default:
                break
            }
        }
        if answered > before { lastProgress = MonotonicClock.now() }
        try receipts.print(until: WaitLimit(alarm: alarm))
    }

    private mutating func refuse(_ refusal: Refusal, line: Int) {
        guard stop == nil else { return }
        let failure = Failure(refusal)
        stop = Failure(failure.status, "line \(line): \(failure.message)")
    }

    private mutating func end(by signal: Signal) {
        stop = Failure(endedBy: signal)
        lastProgress = MonotonicClock.now()
    }

    private mutating func turn() throws(Failure) -> BrokerClient.Turn {
        if client.unsentCount < lastUnsent { lastProgress = MonotonicClock.now() }
        lastUnsent = client.unsentCount
        do throws(ClientFailure) {
            return try client.turn(until: deadline)
        } catch {
            throw Failure(error, at: options.place)
        }
    }

    /// Counts from the last sign of life, and only while something is owed. Once stopped, a second has to do.
    private var deadline: UInt64? {
        guard unanswered > 0 else { return nil }
        if stop != nil { return lastProgress + 1_000_000_000 }
        return options.deadline(from: lastProgress)
    }

    /// A sender that is paused for a slow receiver hears as little as one whose broker hangs. Only a second connection
    /// can tell which it is.
    private func isBrokerAlive(alarm: Int32) -> Bool {
        let other = BrokerClient(options.place)
        let limit = WaitLimit(deadline: options.deadline(), alarm: alarm)
        do throws(ClientFailure) {
            try other.connect(waitingForBroker: false, until: limit)
            guard let ping = other.session.ping() else { return false }
            _ = try other.acknowledgement(of: ping, until: limit)
            return true
        } catch {
            return false
        }
    }
}
