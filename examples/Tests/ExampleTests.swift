import DistributedNotifications
import DistributedNotificationsTesting
import FeedMessages
import Foundation
import PushMessages
import SeatActions
import Testing

@Suite(.timeLimit(.minutes(5))) struct ExampleTests {
    @Test func hello() async throws {
        try await withTestBroker { _, broker in
            let receiver = try Program("hello-receiver", socket: broker.socketPath)
            try await receiver.expect("NO DATA\n")
            let sender = try Program("hello-sender", socket: broker.socketPath)
            try await sender.expect("Input some data")
            sender.type("any é data")
            try await sender.expectEnd()
            try await receiver.expect("NO DATA\nReceived data: any é data\n")
        }
    }

    @Test func aPaidSeat() async throws {
        try await withTestBroker { center, broker in
            let root = try Program("seat-root", ["--seconds", "0.1"], socket: broker.socketPath)
            try await root.expect("Book a Seat\n")
            root.type("")
            try await root.expect("Exploring Page\n")
            try await root.expect("Booking Page\nReservation ID: 12345\nPay Now\n")
            root.type("")
            try await root.expect("Processing Payment..   ")
            try await root.expect("Processing Payment...\n")
            try await root.expect(
                "[ Payment Successful ]\nReservation 12345 has been successfully paid.\n( OK )\n")
            root.type("")
            try await root.expect("Exploring Page\n", times: 2)
            try root.endInput()
            try await root.expectEnd()
        }
    }

    @Test func aSeatThatWasNotPaid() async throws {
        try await withTestBroker { center, broker in
            let exploring = try Program("seat-exploring", socket: broker.socketPath)
            try await center.waitForObservers(of: ReserveASeatAction.name)
            let booking = try Program(
                "seat-booking", ["--seconds", "0", "--fail"], socket: broker.socketPath)
            booking.type("")
            try await booking.expectEnd()
            center.post(ReserveASeatAction.self, userInfo: [.success: true])
            center.post(ReserveASeatAction.self, userInfo: [.reservationId: 1])
            center.post(ReserveASeatAction.self, userInfo: [.success: "yes", .reservationId: 2])
            center.post(ReserveASeatAction.self, userInfo: [.success: true, .reservationId: 3])
            try await exploring.expect("Reservation 3 has been successfully paid.")
            #expect(exploring.text.components(separatedBy: "Payment Successful").count == 2)
        }
    }

    @Test func postsAndLogins() async throws {
        try await withTestBroker { center, broker in
            let reader = try Program("feed-reader", socket: broker.socketPath)
            try await reader.expect("Feed: Welcome\nHeader: 1 unread\nProfile: nobody sees Welcome\n")
            try await center.waitForObservers(of: PostCreated.name)
            try await center.waitForObservers(of: LoginChanged.name)

            let composer = try Program("feed-composer", socket: broker.socketPath)
            composer.type("  First  ")
            composer.type("Hello, world")
            try await composer.expect("Posted to 1.")
            try await reader.expect("Feed: First, Welcome\nHeader: 2 unread\nProfile: nobody sees First\n")

            try await Program("feed-composer", ["login", "ann"], socket: broker.socketPath).expectEnd()
            try await reader.expect("Header: Hello, ann!\nProfile: ann\n")
            try await Program("feed-composer", ["logout"], socket: broker.socketPath).expectEnd()
            try await reader.expect("Header: Please log in\nProfile: closing\nProfile: gone\n")

            try await center.send(PostCreated(Post(title: " ", body: "without a title")))
            try await center.send(PostCreated(Post(title: "Second", body: "")))
            try await reader.expect("Feed: Second, First, Welcome\nHeader: 3 unread\n")
            #expect(!reader.text.contains("sees Second"))
        }
    }

    @Test func pushes() async throws {
        try await withTestBroker { center, broker in
            let catalogue = try Program("push-catalogue", socket: broker.socketPath)
            try await catalogue.expect("Catalogue of 2 products")

            // Started cold.
            let cold = try push(["NotificationType=productDetails", "Id=42"], broker)
            try await cold.expect("Waits for the application.")
            let app = try Program("push-app", socket: broker.socketPath)
            try await app.expect("First Screen > Product 42: Lamp\n")
            #expect(!app.text.contains("Presentation options"))

            // In the foreground.
            try await push(["NotificationType=second"], broker).expect("Delivered.")
            try await app.expect("Presentation options: list, badge, sound\n")
            try await app.expect("First Screen > Product 42: Lamp > Second Screen\n")

            // Nowhere: the path stays.
            for payload in [
                ["NotificationType=productDetails", "Id=99"], ["NotificationType=productDetails"],
                ["NotificationType=other"], ["Id=42"],
            ] {
                try await push(payload, broker).expectEnd()
            }
            try await app.expect("No way: no route for a payload of kind productDetails: nothing was found\n")
            try await app.expect(
                "No way: no route for a payload of kind productDetails: Id is missing or of another type\n")
            try await app.expect(
                "No way: no route for a payload of kind other: no route is registered for its kind\n")
            try await app.expect("No way: no route for a payload of kind (none): it names no kind\n")
            try await push(["NotificationType=productDetails", "Id=43"], broker).expectEnd()
            try await app.expect("First Screen > Product 42: Lamp > Second Screen > Product 43: Chair\n")
        }
    }

    private func push(_ payload: [String], _ broker: TestBroker) throws -> Program {
        try Program("push-sender", payload, socket: broker.socketPath)
    }
}
