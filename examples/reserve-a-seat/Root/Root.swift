import Console
import DistributedNotifications
import Foundation
import SeatActions

/// A page in a process of its own. What is typed goes to the page that is in front.
struct Page {
    private let process = Process()
    private let input = Pipe()

    init(_ program: String, _ arguments: [String] = []) throws {
        process.executableURL = Bundle.main.executableURL?.deletingLastPathComponent().appendingPathComponent(
            program)
        process.arguments = arguments
        process.standardInput = input
        try process.run()
    }

    func pressEnter() {
        input.fileHandleForWriting.write(Data("\n".utf8))
    }

    /// Ends its input, and waits for it to leave.
    func leave() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

/// Offers a seat, and shows the pages: `seat-root [arguments of seat-booking]`.
@main struct Root {
    static func main() async throws {
        let center = DistributedNotificationCenter.default()
        Console.show("Book a Seat")
        guard Console.line() != nil else { return }

        let exploring = try Page("seat-exploring")
        try await center.waitForObservers(of: ReserveASeatAction.name)

        let booking = try Page("seat-booking", Array(CommandLine.arguments.dropFirst()))
        if Console.line() != nil { booking.pressEnter() }
        booking.leave()

        for await _ in Console.lines { exploring.pressEnter() }
        exploring.leave()
    }
}
