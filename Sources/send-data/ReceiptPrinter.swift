import CommandLineSupport
import UnixIO
import WireProtocol

/// What the sender tells of the broker's answers: each of them, if asked to, and a hint if nobody is there.
struct ReceiptPrinter {
    private let options: SendOptions
    private let writer = RecordWriter(
        format: .json, endsWithNul: false, isTerminal: StandardOutput.isTerminal)
    private var output: [UInt8] = []
    private var hasReader = true
    private(set) var accepted = 0
    private var reachedSomebody = false

    init(_ options: SendOptions) {
        self.options = options
    }

    mutating func note(_ receipt: Acknowledgement) {
        accepted += 1
        if receipt.receivers != 0 { reachedSomebody = true }
        if options.printsReceipts && hasReader {
            writer.append(otherFrame: receipt.bytes[...], to: &output)
        }
    }

    mutating func print(until limit: WaitLimit = .none) throws(Failure) {
        guard !output.isEmpty else { return }
        defer { output.removeAll(keepingCapacity: true) }
        do throws(StandardOutput.Trouble) {
            try StandardOutput.write(output, until: limit)
        } catch {
            // Nobody wants the receipts any more; the notifications are another matter.
            hasReader = error != .closed
            if let failure = error.failure { throw failure }
        }
    }

    func hint() {
        guard !options.isQuiet, accepted > 0, !reachedSomebody, options.retention == .none else { return }
        // In bytes: to free a long String the run-time puts types together, which takes as long as to send a notification.
        var hint = Array("nobody is receiving ".utf8)
        Failure.append(quoted: options.name, to: &hint)
        hint += "; --wait-receivers 1 waits for a receiver, --retain keeps it for later ones".utf8
        SendOptions.tool.say(hint)
    }
}
