import DistributedNotificationsTesting
import Foundation
import Testing

@testable import DistributedNotifications

@Suite(.timeLimit(.minutes(1))) struct CenterTests {
    struct Seat: DistributedMessage, Equatable {
        static let name = Notification.Name("Seat")
        var number: Int
        var when: Date?
    }

    enum Action: TypedNotification {
        enum Key: String { case success, id }
    }

    static let patience = Duration.seconds(20)

    @Test("a notification reaches another center as it was sent")
    func basic() async throws {
        try await withTestBroker { center, broker in
            let stream = try await center.notifications(named: Notification.Name("a")).confirmed()
            let other = broker.makeCenter()
            let userInfo: UserInfo = [
                "i": 1, "d": 1.0, "s": "x\u{0}é", "date": Date(timeIntervalSinceReferenceDate: 0.5),
            ]
            let receipt = try await other.send(name: Notification.Name("a"), object: "o", userInfo: userInfo)
            let came = try await stream.next(within: Self.patience)
            #expect(came.userInfo == userInfo)
            #expect(came.name.rawValue == "a")
            #expect(came.object == "o")
            #expect(came.seq == receipt.seq)
            #expect(receipt.receivers == 1)
            #expect(came.sender.pid == ProcessInfo.processInfo.processIdentifier)
            #expect(abs(came.time.timeIntervalSinceNow) < 60)
            #expect(!came.isRetained)
            let notification = came.notification
            #expect(notification.object as? String == "o")
            #expect(notification.userInfo?["d"] as? Double == 1)
        }
    }

    @Test("messages and typed notifications are read as what they are")
    func typed() async throws {
        try await withTestBroker { center, broker in
            let seats = try await center.messages(of: Seat.self).confirmed()
            let plain = try await center.notifications(named: Seat.name).confirmed()
            let actions = try await center.notifications(of: Action.self).confirmed()
            let other = broker.makeCenter()
            other.post(Seat(number: 3, when: Date(timeIntervalSinceReferenceDate: 0)))
            other.post(Action.self, userInfo: [.success: true, .id: 5])
            #expect(try await seats.next(within: Self.patience).number == 3)
            let untyped = try await plain.next(within: Self.patience)
            #expect(untyped.userInfo["number"] == .int(3))
            let action = try await actions.next(within: Self.patience)
            #expect(action[.success] == true)
            #expect(action[.id] == 5)
            #expect(action.notification.name.rawValue == "Action")
            #expect(throws: DistributedNotificationError.self) { try action.value(for: .id, as: String.self) }
        }
    }
}
