import Glibc

/// Jobs in the order in which they came, for threads that sleep while there are none.
///
/// Its lock is a POSIX one, which the thread sanitizer sees: a contended `Mutex` is taken where it does not look.
final class JobQueue: Sendable {
    // SAFETY: the pointer never changes, and the functions of a POSIX mutex may be called from any thread.
    nonisolated(unsafe) private let lock: UnsafeMutablePointer<pthread_mutex_t>
    // SAFETY: they are only reached under the lock.
    nonisolated(unsafe) private var jobs: [(UnownedJob, UnownedTaskExecutor)] = []
    private let count = Semaphore()

    init() {
        lock = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    func append(_ job: UnownedJob, for executor: UnownedTaskExecutor) {
        pthread_mutex_lock(lock)
        jobs.append((job, executor))
        pthread_mutex_unlock(lock)
        count.signal()
    }

    func next() -> (UnownedJob, UnownedTaskExecutor) {
        while true {
            count.wait()
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            if !jobs.isEmpty { return jobs.removeFirst() }
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
