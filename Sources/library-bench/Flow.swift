import DistributedNotifications
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
        let center = DistributedNotificationCenter(socketPath: broker.socketPath)
        let clock = ContinuousClock()
        let before = (own: processorTime(RUSAGE_SELF), children: processorTime(RUSAGE_CHILDREN))
        var start = clock.now
        var wanted = 0
        func take(_ number: Int?) throws {
            guard number == wanted else { throw Disorder(wanted: wanted, got: number) }
            if wanted == 0 { start = clock.now }
            wanted += 1
        }
        switch load {
        case .userInfo:
            let readings = try await center.notifications(named: Reading.name).confirmed()
            let poster = try broker.startPoster(load, count)
            for await reading in readings {
                try take(reading.userInfo["number"])
                if wanted == count { break }
            }
            time = clock.now - start
            poster.waitUntilExit()
        case .message:
            let readings = try await center.messages(of: Reading.self).confirmed()
            let poster = try broker.startPoster(load, count)
            for await reading in readings {
                try take(reading.number)
                if wanted == count { break }
            }
            time = clock.now - start
            poster.waitUntilExit()
        }
        guard wanted == count else { throw Disorder(wanted: wanted, got: nil) }
        self.count = count
        posterTime = processorTime(RUSAGE_CHILDREN) - before.children
        observerTime = processorTime(RUSAGE_SELF) - before.own
        await center.close()
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
