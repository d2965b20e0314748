import Glibc
package import Testing

/// Runs the tests of a suite on threads of their own, a few at a time. They may block: on the pool of Swift's tasks, which
/// is as wide as the machine, that would starve the tests that don't.
package struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
    package let isRecursive = true

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(BlockingExecutor.shared) { try await function() }
    }
}

extension Trait where Self == OwnThreads {
    package static var ownThreads: OwnThreads { OwnThreads() }
}

private final class BlockingExecutor: TaskExecutor {
    static let shared = BlockingExecutor(width: 3)

    private let jobs = JobQueue()

    private init(width: Int) {
        for _ in 0..<width {
            let context = Unmanaged.passRetained(jobs).toOpaque()
            var thread = pthread_t()
            pthread_create(&thread, nil, runJobs, context)
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        jobs.append(UnownedJob(job), for: asUnownedTaskExecutor())
    }
}

private func runJobs(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // SAFETY: the context is the queue that the executor retained for this thread.
    guard let context else { return nil }
    let jobs = Unmanaged<JobQueue>.fromOpaque(context).takeUnretainedValue()
    while true {
        let (job, executor) = jobs.next()
        job.runSynchronously(on: executor)
    }
}
