/// Nanoseconds since some moment before the process began; it only goes forward. Deadlines are told in it.
package enum MonotonicClock {
    package static func now() -> UInt64 {
        UInt64(truncatingIfNeeded: SystemCalls.monotonicNanoseconds)
    }

    /// This many seconds from now; nil where that is beyond any life.
    package static func deadline(inSeconds seconds: Double) -> UInt64? {
        let nanoseconds = (seconds * 1e9).rounded(.up)
        guard nanoseconds < 9e18 else { return nil }
        return now() &+ UInt64(max(nanoseconds, 0))
    }

    package static func sleep(until deadline: UInt64) {
        var none: [PollEntry] = []
        _ = try? PollEntry.wait(for: &none, until: deadline)
    }

    /// What a call that takes a relative time needs: -1 for ever, 0 not at all.
    static func remaining(until deadline: UInt64?) -> Int64 {
        guard let deadline else { return -1 }
        guard deadline > 0 else { return 0 }
        let now = now()
        return deadline > now ? Int64(clamping: deadline - now) : 0
    }
}

extension Duration {
    /// Whole nanoseconds, to be added to a moment: what is beyond a century counts as one, what is negative as nothing.
    package var nanoseconds: UInt64 {
        let century: Int64 = 100 * 366 * 86_400
        let (seconds, attoseconds) = components
        if seconds >= century { return UInt64(century) * 1_000_000_000 }
        return UInt64(max(0, seconds)) * 1_000_000_000 + UInt64(max(0, attoseconds)) / 1_000_000_000
    }
}

package enum WallClock {
    /// Microseconds since 1970-01-01 UTC.
    package static func microseconds() -> Int64 {
        SystemCalls.wallNanoseconds / 1000
    }
}

/// Nanoseconds of processor time, in user and kernel mode.
package enum CPUClock {
    package static func thisThread() -> UInt64 {
        UInt64(clamping: SystemCalls.threadCPUNanoseconds)
    }

    /// Of all threads of a process, ours or not; nil if there is no such process.
    package static func process(_ pid: Int32) -> UInt64? {
        let time = pid > 0 ? SystemCalls.cpuNanoseconds(ofProcess: pid) : -1
        return time < 0 ? nil : UInt64(time)
    }
}
