public import Foundation

/// Elements that were taken out of a channel together.
@usableFromInline
final class Batch<Element: Sendable>: @unchecked Sendable {
    // Sendable because the two variables are only reached under the lock. `next`, which comes with each element, can be inlined:
    // generic code that other modules call is not specialised else, and costs more than the rest.
    @usableFromInline let lock = NSLock()
    @usableFromInline var elements: [Element] = []
    @usableFromInline var index = 0

    @inlinable
    func next() -> Element? {
        lock.lock()
        defer { lock.unlock() }
        guard index < elements.count else { return nil }
        index += 1
        return elements[index - 1]
    }

    @usableFromInline
    func add(_ more: [Element]) {
        lock.lock()
        defer { lock.unlock() }
        elements = index == elements.count ? more : elements[index...] + more
        index = 0
    }

    /// nil if there is none.
    func rest() -> [Element]? {
        lock.lock()
        defer { lock.unlock() }
        defer {
            elements = []
            index = 0
        }
        return index < elements.count ? Array(elements[index...]) : nil
    }
}
