// swift-tools-version: 6.3

import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// A static tool starts in a fraction of the time: a script may run thousands. Only the executables, so that the libraries stay
// free of flags that would forbid to depend on them.
let startsFast: [LinkerSetting] = [
    .unsafeFlags(["-static-executable"], .when(platforms: [.linux], configuration: .release))
]

// What a run of it touches lies side by side: half as many page faults. `.ci/startup-order` writes the order.
let startsFastest: [LinkerSetting] = startsFast + [
    .unsafeFlags(
        [
            "-use-ld=lld", "-Xlinker", "--no-warn-symbol-ordering", "-Xlinker",
            "--symbol-ordering-file=\(Context.packageDirectory)/Sources/send-data/startup.order",
        ], .when(platforms: [.linux], configuration: .release))
]

let package = Package(
    name: "notification-broker",
    products: [
        .library(name: "DistributedNotifications", targets: ["DistributedNotifications"]),
        .library(name: "DistributedNotificationsTesting", targets: ["DistributedNotificationsTesting"]),
        .executable(name: "notification-broker", targets: ["notification-broker"]),
        .executable(name: "send-data", targets: ["send-data"]),
        .executable(name: "receive-data", targets: ["receive-data"]),
        .executable(name: "broker-bench", targets: ["broker-bench"]),
    ],
    targets: [
        .target(name: "CLinux"),
        .target(name: "UnixIO", dependencies: ["CLinux"], swiftSettings: strict),
        .target(name: "Endpoint", dependencies: ["UnixIO"], swiftSettings: strict),
        .target(name: "WireProtocol", swiftSettings: strict),
        .target(name: "BrokerCore", dependencies: ["WireProtocol"], swiftSettings: strict),
        .target(
            name: "BrokerServer", dependencies: ["BrokerCore", "Endpoint", "UnixIO", "WireProtocol"],
            swiftSettings: strict),
        .target(name: "ClientCore", dependencies: ["WireProtocol"], swiftSettings: strict),
        .target(
            name: "BrokerClient", dependencies: ["ClientCore", "Endpoint", "UnixIO", "WireProtocol"],
            swiftSettings: strict),
        .target(
            name: "DistributedNotifications",
            dependencies: ["ClientCore", "Endpoint", "UnixIO", "WireProtocol"],
            swiftSettings: strict),
        .target(
            name: "DistributedNotificationsTesting",
            dependencies: ["DistributedNotifications", "BrokerServer"],
            swiftSettings: strict),
        .target(
            name: "CommandLineSupport",
            dependencies: ["BrokerClient", "ClientCore", "Endpoint", "UnixIO", "WireProtocol"],
            swiftSettings: strict),
        .executableTarget(
            name: "notification-broker",
            dependencies: [
                "BrokerClient", "BrokerServer", "ClientCore", "CommandLineSupport", "Endpoint", "UnixIO",
                "WireProtocol",
            ], swiftSettings: strict, linkerSettings: startsFast),
        .executableTarget(
            name: "send-data",
            dependencies: [
                "BrokerClient", "ClientCore", "CommandLineSupport", "Endpoint", "UnixIO", "WireProtocol",
            ],
            exclude: ["startup.order"], swiftSettings: strict, linkerSettings: startsFastest),
        .executableTarget(
            name: "receive-data",
            dependencies: [
                "BrokerClient", "ClientCore", "CommandLineSupport", "Endpoint", "UnixIO", "WireProtocol",
            ],
            swiftSettings: strict, linkerSettings: startsFast),
        .executableTarget(
            name: "broker-bench",
            dependencies: [
                "BrokerClient", "ClientCore", "CommandLineSupport", "Endpoint", "UnixIO", "WireProtocol",
            ],
            swiftSettings: strict, linkerSettings: startsFast),
        .executableTarget(
            name: "library-bench",
            dependencies: ["CommandLineSupport", "DistributedNotifications", "Endpoint", "UnixIO"],
            swiftSettings: strict),
        .testTarget(name: "UnixIOTests", dependencies: ["UnixIO", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "EndpointTests", dependencies: ["Endpoint", "UnixIO", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "ClientCoreTests", dependencies: ["ClientCore", "TestSupport", "WireProtocol"],
            swiftSettings: strict),
        .testTarget(
            name: "BrokerClientTests",
            dependencies: [
                "BrokerClient", "ClientCore", "Endpoint", "TestSupport", "UnixIO", "WireProtocol",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "WireProtocolTests", dependencies: ["TestSupport", "WireProtocol"], swiftSettings: strict),
        .testTarget(
            name: "BrokerCoreTests", dependencies: ["BrokerCore", "TestSupport", "WireProtocol"],
            swiftSettings: strict),
        .target(
            name: "TestSupport", dependencies: ["UnixIO"], path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(
            name: "CommandLineSupportTests", dependencies: ["CommandLineSupport", "TestSupport", "UnixIO"],
            swiftSettings: strict),
        .testTarget(
            name: "DistributedNotificationsTests",
            dependencies: [
                "DistributedNotifications", "DistributedNotificationsTesting", "ClientCore", "Endpoint",
                "UnixIO", "WireProtocol", "notification-broker",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PortedAppTests", dependencies: ["DistributedNotifications", "DistributedNotificationsTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "PortedAppMainActorTests",
            dependencies: ["DistributedNotifications", "DistributedNotificationsTesting"],
            swiftSettings: strict + [.defaultIsolation(MainActor.self)]),
        .testTarget(
            name: "BrokerBenchTests",
            dependencies: [
                "TestSupport", "UnixIO", "WireProtocol", "broker-bench", "library-bench", "notification-broker",
                "receive-data",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "IntegrationTests",
            dependencies: ["TestSupport", "UnixIO", "notification-broker", "receive-data", "send-data"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
