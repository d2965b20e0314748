import Foundation

/// A value that is only reached under a lock.
///
/// Like `Mutex`, but on a lock that the thread sanitizer sees: a contended `Mutex` is taken inside the standard library, where it
/// does not look, and each such place would be a false report. It costs no more.
package final class Locked<Value>: @unchecked Sendable {
    // Sendable because nothing but `withLock` reaches the value: it goes in as `sending`, and what comes out is `sending`, too.
    private let lock = NSLock()
    // SAFETY: nobody who holds the lock takes it again.
    @exclusivity(unchecked) private var value: Value

    package init(_ value: sending Value) {
        self.value = value
    }

    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
