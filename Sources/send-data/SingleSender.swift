import BrokerClient
import ClientCore
import CommandLineSupport
import Endpoint
import UnixIO
import WireProtocol

/// Posts one notification. Signals end the process by themselves meanwhile.
struct SingleSender {
    private let options: SendOptions
    private let client: BrokerClient

    init(_ options: SendOptions) {
        self.options = options
        client = BrokerClient(options.place, readingAtOnce: 4 << 10)
    }

    func run() throws(Failure) -> ExitStatus {
        let first = WaitLimit(deadline: options.deadline())
        do throws(ClientFailure) {
            try client.connect(waitingForBroker: options.waitsForBroker, until: first)
        } catch {
            throw Failure(error, at: options.place)
        }
        let post = try post()
        try client.awaitReceivers(options, until: WaitLimit(deadline: options.deadline()))
        let receipt = try accepted(post)
        var receipts = ReceiptPrinter(options)
        receipts.note(receipt)
        try receipts.print()
        receipts.hint()
        return .success
    }

    private func post() throws(Failure) -> Post {
        switch options.data {
        case .userInfo(let userInfo): return options.post(userInfo: userInfo)
        case .nothing: return options.post(userInfo: nil)
        case .line, .lines:
            let line = try readLine() ?? Array("Nothing left to say".utf8)
            try checkUTF8(line, in: "the line", else: .dataRefused)
            return options.post(text: line)
        }
    }

    private func accepted(_ post: Post) throws(Failure) -> Acknowledgement {
        let request = client.session.send(post, at: MonotonicClock.now())
        do throws(ClientFailure) {
            return try client.acknowledgement(of: request, until: WaitLimit(deadline: options.deadline()))
        } catch {
            let failure = Failure(error, at: options.place)
            switch error {
            case .noAnswer where client.unsentCount == 0:
                throw failure.adding("the notification may still be delivered")
            case .ended(let end, .closed) where end.goodbye?.reason != .refused && !end.lost.isEmpty:
                throw failure.adding("the notification may have been delivered")
            default:
                throw failure
            }
        }
    }

    /// One line of standard input, asked for on a terminal; nil at its end. A broker that goes away is noticed
    /// meanwhile.
    private func readLine() throws(Failure) -> [UInt8]? {
        let asks = StandardInput.isTerminal
        if asks { StandardError.write(Array("Input some data: ".utf8)) }
        var lines = LineBuffer()
        while !lines.ended {
            if let line = lines.next() { return line }
            try lines.refuseTooLong()
            client.watched = [PollEntry(StandardInput.descriptor, .readable)]
            switch try client.turn(options) {
            case .watched: try StandardInput.read(into: &lines)
            case .progress, .deadline, .stillGone, .connected: while client.nextEvent() != nil {}
            case .ended(let end, let cause): throw Failure(end.goodbye, cause, at: options.place)
            }
        }
        let last = lines.next()
        if asks && last == nil { StandardError.write([UInt8(ascii: "\n")]) }
        return last
    }
}

extension LineBuffer {
    func refuseTooLong() throws(Failure) {
        guard unfinishedCount > SendOptions.longestText else { return }
        throw Failure(
            .dataRefused, "a line of standard input is longer than \(SendOptions.longestText) bytes")
    }
}

extension BrokerClient {
    func turn(_ options: SendOptions) throws(Failure) -> Turn {
        do throws(ClientFailure) {
            return try turn(until: nil)
        } catch {
            throw Failure(error, at: options.place)
        }
    }

    /// Waits for as many receivers as the user wants, if any.
    func awaitReceivers(_ options: SendOptions, until limit: WaitLimit) throws(Failure) {
        guard options.receivers > 0,
            let request = session.awaitObservers(
                of: options.name, object: options.object, count: UInt64(options.receivers))
        else { return }
        do throws(ClientFailure) {
            _ = try acknowledgement(of: request, until: limit)
        } catch {
            guard case .noAnswer = error else { throw Failure(error, at: options.place) }
            let receivers = options.receivers == 1 ? "a receiver" : "\(options.receivers) receivers"
            throw Failure(
                .gaveUp,
                "gave up waiting for \(receivers) of \(Failure.quoted(options.name.utf8)); nothing was sent")
        }
    }
}
