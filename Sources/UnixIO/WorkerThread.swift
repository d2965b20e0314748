internal import Glibc

/// Threads that may block, which tasks may not: their pool is as wide as the machine.
package enum WorkerThread {
    /// Runs the body on a thread of its own, which nobody waits for.
    package static func start(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let context = Unmanaged.passRetained(Body(body))
        do throws(SystemError) {
            try check("pthread_create", SystemCalls.startThread(runBody, context.toOpaque()))
        } catch {
            context.release()
            throw error
        }
    }
}

private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

private func runBody(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    // SAFETY: it is what `start` retained for this thread.
    Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
