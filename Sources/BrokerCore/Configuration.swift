package import WireProtocol

/// What a broker is told at its start.
package struct Configuration: Sendable {
    package var limits = Limits()
    /// How long a receiver may take nothing while others are paused for it, in nanoseconds.
    package var patience: UInt64 = 3_000_000_000
    /// How long a frame may take from its first byte to its last, in nanoseconds.
    package var frameTimeout: UInt64 = 10_000_000_000
    package var retainedBytes = 64 << 20
    package var maxConnections = 1000
    /// Users that may connect besides the broker's own and root.
    package var allowedUsers: Set<UInt32> = []
    package var ownUser: UInt32
    package var pid: Int32
    package var version: String
    /// Names this run of the broker, for clients to tell it from another.
    package var instance: String
    /// Seeds the hashes, so that nobody can foresee them.
    package var seed: UInt64

    package init(ownUser: UInt32, pid: Int32, version: String, instance: String, seed: UInt64) {
        self.ownUser = ownUser
        self.pid = pid
        self.version = version
        self.instance = instance
        self.seed = seed
    }
}

/// The two clocks, read once a turn.
package struct Moment: Hashable, Sendable {
    /// Nanoseconds that only grow.
    package var monotonic: UInt64
    /// Microseconds since 1970.
    package var wall: UInt64

    package init(monotonic: UInt64, wall: UInt64) {
        self.monotonic = monotonic
        self.wall = wall
    }
}
