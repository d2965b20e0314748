/// The numbers that a broker announces in its `welcome`, and that bound what it takes.
package struct Limits: Hashable, Sendable {
    /// The longest JSON text of one frame, in bytes.
    package var frameBytes: Int
    /// The longest name, in bytes of UTF-8 after unescaping.
    package var nameBytes: Int
    /// The longest object, in bytes of UTF-8 after unescaping.
    package var objectBytes: Int
    /// The deepest nesting; the frame's own object is 1.
    package var depth: Int
    /// What one connection's queue holds before its overflow policy acts.
    package var queueBytes: Int
    /// The observers of one connection.
    package var observers: Int

    package init(
        frameBytes: Int = 16 << 20, nameBytes: Int = 255, objectBytes: Int = 1024, depth: Int = 128,
        queueBytes: Int = 8 << 20, observers: Int = 10_000
    ) {
        self.frameBytes = frameBytes
        self.nameBytes = nameBytes
        self.objectBytes = objectBytes
        self.depth = depth
        self.queueBytes = queueBytes
        self.observers = observers
    }

    /// The longest label of an observer, and of what a client calls itself, in bytes.
    package static let labelBytes = 255
    /// The longest glob, in bytes.
    package static let patternBytes = 255
    /// The most that `awaitObservers` may ask for.
    package static let awaitedObservers = 1_000_000
    /// The features that a `hello` may name, and the bytes of each.
    package static let features = 32
    package static let featureBytes = 64
    /// The greatest `id`: 2^53 - 1.
    package static let greatestID: UInt64 = (1 << 53) - 1
}
