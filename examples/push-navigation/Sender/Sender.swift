import Console
import DistributedNotifications
import Foundation
import PushMessages

/// Sends a push: `push-sender KEY=VALUE...`, as in `push-sender NotificationType=productDetails Id=42`.
@main struct Sender {
    static func main() async throws {
        var payload = UserInfo()
        for argument in CommandLine.arguments.dropFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return Console.show("usage: push-sender KEY=VALUE...") }
            payload[parts[0]] = .string(parts[1])
        }
        // Retained, it waits for an application that is not running yet.
        let receipt = try await DistributedNotificationCenter.default().send(
            name: .push, userInfo: payload, options: .retain)
        Console.show(receipt.receivers == 0 ? "Waits for the application." : "Delivered.")
    }
}
