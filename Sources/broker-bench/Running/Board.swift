import CommandLineSupport
import Synchronization
import UnixIO

/// What the threads of a measurement share: gates that open once, counters, and what came out.
final class Board: Sendable {
    private let posted = Atomic<Int>(0)
    private let delivered = Atomic<Int>(0)
    private let arrived = Atomic<Int>(0)
    /// Rung when the supervisor has something to see.
    let bell: WakeDescriptor
    private let start: WakeDescriptor
    private let sendersDone: WakeDescriptor
    private let end: WakeDescriptor
    private let stop: WakeDescriptor
    private let outcome = Mutex(Outcome())

    private struct Outcome {
        var reports: [WorkerReport] = []
        var failure: Failure?
    }

    init() throws(SystemError) {
        bell = try WakeDescriptor()
        start = try WakeDescriptor()
        sendersDone = try WakeDescriptor()
        end = try WakeDescriptor()
        stop = try WakeDescriptor()
    }

    func notePosted(_ count: Int) { posted.add(count, ordering: .relaxed) }
    func noteDelivered(_ count: Int) { delivered.add(count, ordering: .relaxed) }

    var progress: (posted: Int, delivered: Int) {
        (posted.load(ordering: .relaxed), delivered.load(ordering: .relaxed))
    }

    var arrivals: Int { arrived.load(ordering: .acquiring) }
    var reports: [WorkerReport] { outcome.withLock(\.reports) }
    var failure: Failure? { outcome.withLock(\.failure) }

    func openStart() { start.wake() }
    func openEnd() { end.wake() }
    func tellSendersDone() { sendersDone.wake() }
    func callOff() { stop.wake() }

    /// Readable when all is posted.
    var sendersDoneNumber: Int32 { sendersDone.number }
    /// Readable when the measurement was called off.
    var stopNumber: Int32 { stop.number }

    /// Says that a worker's preparations are done, and waits for the others.
    func arrive() throws(Failure) {
        arrived.add(1, ordering: .acquiringAndReleasing)
        bell.wake()
        try wait(for: start)
    }

    /// Says what came out, and keeps the worker's connections until all have done so and the broker's time was taken: what it
    /// does about connections that close is no part of the measurement.
    func report(_ report: WorkerReport) throws(Failure) {
        outcome.withLock { $0.reports.append(report) }
        bell.wake()
        try wait(for: end)
    }

    private func wait(for gate: borrowing WakeDescriptor) throws(Failure) {
        var entries = [PollEntry(gate.number, .readable), PollEntry(stop.number, .readable)]
        try Failure.of { () throws(SystemError) in try PollEntry.wait(for: &entries, until: nil) }
        if !entries[1].readiness.isEmpty { throw .calledOff }
    }

    func perform(_ worker: Worker) {
        do throws(Failure) {
            try worker(self)
        } catch {
            let failure = error
            outcome.withLock { if $0.failure == nil { $0.failure = failure } }
            bell.wake()
        }
    }
}

/// One thread's part of a measurement: it prepares, arrives, works, and reports.
typealias Worker = @Sendable (Board) throws(Failure) -> Void

/// What one thread has to tell at its end.
struct WorkerReport: Sendable {
    enum Role: Sendable { case senders, receivers, bystander }

    let role: Role
    /// Processor time since the start, in nanoseconds.
    var cpu: UInt64 = 0
    /// Of its first post and its last delivery, by `MonotonicClock`.
    var began: UInt64 = .max
    var ended: UInt64 = 0
    var posted = 0
    var delivered = 0
    var faults = Faults()
    /// Of each receiver that gets everything: one number for the order that it saw.
    var orders: [UInt64] = []
    /// Round trips in nanoseconds.
    var samples: [UInt64] = []

    init(_ role: Role) {
        self.role = role
    }
}
