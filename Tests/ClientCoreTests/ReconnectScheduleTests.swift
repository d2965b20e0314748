import TestSupport
import Testing

@testable import ClientCore

@Suite struct ReconnectScheduleTests {
    @Test(arguments: 1...20)
    func delaysGrowToTheCeilingWithinTheirJitter(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var schedule = ReconnectSchedule(first: .milliseconds(100), ceiling: .seconds(1))
        for full in [100, 200, 400, 800, 1000, 1000, 1000] {
            let delay = schedule.nextDelay(using: &generator)
            #expect(delay >= .milliseconds(full) / 2 && delay <= .milliseconds(full), "seed \(seed)")
        }
        #expect(schedule.attempt == 7)
    }

    @Test func theSameSeedGivesTheSameDelays() {
        func delays() -> [Duration] {
            var generator = SeededGenerator(seed: 4)
            var schedule = ReconnectSchedule()
            return (0..<100).map { _ in schedule.nextDelay(using: &generator) }
        }
        #expect(delays() == delays())
    }

    @Test func onlyALastingConnectionStartsAnew() {
        var generator = SeededGenerator(seed: 1)
        var schedule = ReconnectSchedule(first: .milliseconds(100), ceiling: .seconds(1))
        for _ in 0..<5 { _ = schedule.nextDelay(using: &generator) }
        schedule.connectionEnded(after: .seconds(1))
        #expect(schedule.attempt == 5)
        schedule.connectionEnded(after: .milliseconds(1001))
        #expect(schedule.attempt == 0)
        #expect(schedule.nextDelay(using: &generator) <= .milliseconds(100))
    }
}
