// swift-tools-version: 6.3

import PackageDescription

let library: Target.Dependency = .product(name: "DistributedNotifications", package: "notification-broker")

/// A program of an example: one file or a few in a folder of their own.
func program(_ name: String, _ path: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .executableTarget(name: name, dependencies: [library, "Console"] + dependencies, path: path)
}

let package = Package(
    name: "examples",
    dependencies: [.package(name: "notification-broker", path: "..")],
    targets: [
        .target(name: "Console", path: "Console"),

        program("hello-sender", "hello/Sender"),
        program("hello-receiver", "hello/Receiver"),

        .target(name: "SeatActions", dependencies: [library], path: "reserve-a-seat/Actions"),
        program("seat-root", "reserve-a-seat/Root", ["SeatActions"]),
        program("seat-booking", "reserve-a-seat/Booking", ["SeatActions"]),
        program("seat-exploring", "reserve-a-seat/Exploring", ["SeatActions"]),

        .target(name: "FeedMessages", dependencies: [library], path: "post-feed/Messages"),
        program("feed-composer", "post-feed/Composer", ["FeedMessages"]),
        program("feed-reader", "post-feed/Reader", ["FeedMessages"]),

        .target(name: "PushMessages", dependencies: [library], path: "push-navigation/Messages"),
        program("push-sender", "push-navigation/Sender", ["PushMessages"]),
        program("push-catalogue", "push-navigation/Catalogue", ["PushMessages"]),
        program("push-app", "push-navigation/App", ["PushMessages"]),

        .testTarget(
            name: "ExampleTests",
            dependencies: [
                library, "FeedMessages", "PushMessages", "SeatActions",
                .product(name: "DistributedNotificationsTesting", package: "notification-broker"),
                "hello-sender", "hello-receiver", "seat-root", "seat-booking", "seat-exploring",
                "feed-composer",
                "feed-reader", "push-sender", "push-catalogue", "push-app",
            ],
            path: "Tests"),
    ],
    swiftLanguageModes: [.v6]
)
