import Console
import DistributedNotifications
import Foundation
import SeatActions

/// Books a seat: `seat-booking [--seconds N] [--fail]`.
struct BookingPage {
    let reservationId = 12345
    let processingTime: Duration
    let succeeds: Bool

    func run() async {
        Console.show("Booking Page")
        Console.show("Reservation ID: \(reservationId)")
        Console.show("Pay Now")
        guard Console.line() != nil else { return }
        await processPayment()
        DistributedNotificationCenter.default().post(
            ReserveASeatAction.self, userInfo: [.success: succeeds, .reservationId: reservationId])
    }

    private func processPayment() async {
        let frames = 8
        for frame in 0..<frames {
            let dots = String(repeating: ".", count: frame % 4)
            Console.write("\rProcessing Payment\(dots)   ")
            try? await Task.sleep(for: processingTime / frames)
        }
        Console.write("\rProcessing Payment...\n")
    }
}

@main struct Booking {
    static func main() async {
        let arguments = CommandLine.arguments
        let seconds = arguments.firstIndex(of: "--seconds").flatMap {
            Double(arguments.dropFirst($0 + 1).first ?? "")
        }
        await BookingPage(processingTime: .seconds(seconds ?? 2), succeeds: !arguments.contains("--fail"))
            .run()
    }
}
