public import DistributedNotifications

/// Runs a test with a broker of its own, and a center that is connected to it.
///
/// ```swift
/// try await withTestBroker { center, broker in
///     let messages = try await center.messages(of: SeatReserved.self).confirmed()
///     broker.makeCenter().post(SeatReserved(seat: 3))
///     let message = try await messages.next(within: .seconds(5))
///     #expect(message.seat == 3)
/// }
/// ```
///
/// The broker is the real one, on a thread of this process. Tests may run in parallel: each has a socket of its own.
///
/// - Parameters:
///   - queueBytes: What the broker queues for one connection before its reader counts as slow.
///   - isolation: The caller's: the body runs where the caller does.
///   - body: The test. The center is closed, and the broker ended, when it returns or throws.
/// - Returns: What the body returns.
/// - Throws: What the body throws, or ``TestBroker/StartError``.
public func withTestBroker<Result>(
    queueBytes: Int = 8 << 20, isolation: isolated (any Actor)? = #isolation,
    _ body: (DistributedNotificationCenter, TestBroker) async throws -> Result
) async throws -> Result {
    let broker = try TestBroker(queueBytes: queueBytes)
    try await broker.start()
    let center = broker.makeCenter()
    do {
        let result = try await body(center, broker)
        await end(center, broker)
        return result
    } catch {
        await end(center, broker)
        throw error
    }
}

private func end(_ center: DistributedNotificationCenter, _ broker: TestBroker) async {
    broker.resume()
    await center.close()
    await broker.kill()
    broker.removeFiles()
}

extension Notifications {
    /// The next element, if it comes in time. What comes later is still there for the next call.
    ///
    /// - Throws: `timedOut` if none came, `cancelled` if the sequence has ended or the task was cancelled.
    public func next(within duration: Duration) async throws(DistributedNotificationError) -> Element {
        try await next(waiting: duration)
    }
}
