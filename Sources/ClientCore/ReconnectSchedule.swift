/// How long to wait before each attempt to reach the broker again: twice as long each time up to a ceiling, of
/// which a random part, between half and the whole, so that many clients of one broker don't come back in step.
///
/// Only a connection that lasted longer than the ceiling starts the schedule anew: a broker that takes
/// connections and ends them at once is left alone more and more, like one that is absent.
package struct ReconnectSchedule: Sendable {
    package private(set) var attempt = 0
    private let first: Duration
    private let ceiling: Duration

    package init(first: Duration = .milliseconds(50), ceiling: Duration = .seconds(2)) {
        self.first = first
        self.ceiling = ceiling
    }

    package mutating func nextDelay(using generator: inout some RandomNumberGenerator) -> Duration {
        let doublings = min(attempt, 20)
        let full = min(first * (1 << doublings), ceiling)
        attempt += 1
        return full * Double.random(in: 0.5...1, using: &generator)
    }

    package mutating func connectionEnded(after lifetime: Duration) {
        if lifetime > ceiling {
            attempt = 0
        }
    }
}
