/// A descriptor to wait for with `wait`, in the layout that the kernel takes. A negative number is passed over.
package struct PollEntry: Sendable {
    package var number: Int32
    private var interestBits: Int16
    private var readinessBits: Int16 = 0

    package init(_ number: Int32, _ interest: Readiness) {
        self.number = number
        interestBits = Int16(truncatingIfNeeded: interest.rawValue)
    }

    package var interest: Readiness {
        get { Readiness(rawValue: UInt32(UInt16(bitPattern: interestBits))) }
        set { interestBits = Int16(truncatingIfNeeded: newValue.rawValue) }
    }

    /// What the last `wait` found.
    package var readiness: Readiness { Readiness(rawValue: UInt32(UInt16(bitPattern: readinessBits))) }

    /// Waits until one of them is ready or the time (of `MonotonicClock`) has come; answers how many are ready.
    @discardableResult
    package static func wait(for entries: inout [PollEntry], until deadline: UInt64?) throws(SystemError)
        -> Int
    {
        try check("poll", entries.withUnsafeMutableBufferPointer { SystemCalls.poll($0, until: deadline) })
    }

    /// What a single descriptor is ready for; empty when the time has come.
    package static func wait(
        for number: Int32, _ interest: Readiness, until deadline: UInt64?
    ) throws(SystemError) -> Readiness {
        var entry = PollEntry(number, interest)
        let count = withUnsafeMutablePointer(to: &entry) {
            SystemCalls.poll(UnsafeMutableBufferPointer(start: $0, count: 1), until: deadline)
        }
        try check("poll", count)
        return entry.readiness
    }
}
