import CommandLineSupport
import DistributedNotifications
import Endpoint
import Foundation

/// What came of many posts of one process, in another process's asynchronous sequence.
struct Flow: CustomStringConvertible {
    /// Not every post came, once and in order.
    struct Disorder: Error {
        var wanted: Int
        var got: Int?
    }

    let count: Int
    let time: Duration
    let posterTime: Double
    let observerTime: Double

    init(_ load: Load, _ count: Int, _ broker: OwnBroker) async throws {
        let center = DistributedNotificationCenter(socketPath: "\(broker.place.path)")
        let clock = ContinuousClock()
        let before = (own: processorTime(RUSAGE_SELF), children: processorTime(RUSAGE_CHILDREN))
        switch load {
        case .userInfo:
            time = try await Self.receive(
                center.notifications(named: Reading.name), load, count, broker, clock
            ) { $0.userInfo["number"] }
        case .message:
            time = try await Self.receive(center.messages(of: Reading.self), load, count, broker, clock) {
                $0.number
            }
        }
        self.count = count
        posterTime = processorTime(RUSAGE_CHILDREN) - before.children
        observerTime = processorTime(RUSAGE_SELF) - before.own
        await center.close()
    }

    /// Has the posts made, and answers the time from the first that comes to the last.
    private static func receive<Element>(
        _ readings: Notifications<Element>, _ load: Load, _ count: Int, _ broker: OwnBroker,
        _ clock: ContinuousClock, number: (Element) -> Int?
    ) async throws -> Duration {
        let readings = try await readings.confirmed()
        let poster = try startPoster(load, count, broker)
        var start = clock.now
        var wanted = 0
        for await reading in readings {
            guard number(reading) == wanted else { throw Disorder(wanted: wanted, got: number(reading)) }
            if wanted == 0 { start = clock.now }
            wanted += 1
            if wanted == count { break }
        }
        guard wanted == count else { throw Disorder(wanted: wanted, got: nil) }
        let time = clock.now - start
        poster.waitUntilExit()
        return time
    }

    private static func startPoster(_ load: Load, _ count: Int, _ broker: OwnBroker) throws -> Process {
        let poster = Process()
        poster.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        poster.arguments = ["post", load.rawValue, "\(broker.place.path)", "\(count)"]
        poster.standardOutput = FileHandle.nullDevice
        try poster.run()
        return poster
    }

    var description: String {
        let seconds = time / .seconds(1)
        let each = 1e9 / Double(count)
        return """
            \(Int(Double(count - 1) / seconds)) a second; processor time for each: \
            \(Int(posterTime * each)) ns to post, \(Int(observerTime * each)) ns to observe
            """
    }
}

private func processorTime(_ who: __rusage_who) -> Double {
    var usage = rusage()
    getrusage(who.rawValue, &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
}
