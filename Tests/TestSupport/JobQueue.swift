import Glibc
import Synchronization

/// Jobs in the order in which they came, for threads that sleep while there are none.
final class JobQueue: Sendable {
    private let jobs = Mutex<[(UnownedJob, UnownedTaskExecutor)]>([])
    private let count = Semaphore()

    func append(_ job: UnownedJob, for executor: UnownedTaskExecutor) {
        jobs.withLock { $0.append((job, executor)) }
        count.signal()
    }

    func next() -> (UnownedJob, UnownedTaskExecutor) {
        while true {
            count.wait()
            if let next = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return next }
        }
    }
}

private final class Semaphore: Sendable {
    // SAFETY: the pointer never changes, and the functions of a POSIX semaphore may be called from any thread.
    nonisolated(unsafe) private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    func signal() { sem_post(semaphore) }

    func wait() { while sem_wait(semaphore) != 0 {} }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }
}
