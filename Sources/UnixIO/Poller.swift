internal import CLinux

/// Waits for many descriptors at once (epoll). Each is known by a token of the caller's choice. A closed descriptor leaves
/// by itself; one that is watched for nothing still reports `hangUp` again and again unless it is edge-triggered.
package struct Poller: ~Copyable {
    private let descriptor: Descriptor
    private let events: UnsafeMutableBufferPointer<linux_event>

    package init(capacity: Int = 256) throws(SystemError) {
        descriptor = Descriptor(adopting: Int32(try check("epoll_create", SystemCalls.epollCreate())))
        events = .allocate(capacity: max(capacity, 1))
        events.initialize(repeating: linux_event())
    }

    deinit {
        events.deallocate()
    }

    package func add(
        _ number: Int32, _ interest: Readiness, edgeTriggered: Bool = false, token: UInt64
    ) throws(SystemError) {
        try check(
            "epoll_ctl",
            SystemCalls.epollAdd(
                descriptor.number, number, interest.rawValue, edge: edgeTriggered, token: token))
    }

    package func modify(
        _ number: Int32, _ interest: Readiness, edgeTriggered: Bool = false, token: UInt64
    ) throws(SystemError) {
        try check(
            "epoll_ctl",
            SystemCalls.epollModify(
                descriptor.number, number, interest.rawValue, edge: edgeTriggered, token: token))
    }

    package func remove(_ number: Int32) throws(SystemError) {
        try check("epoll_ctl", SystemCalls.epollRemove(descriptor.number, number))
    }

    /// Waits for an event or the time (of `MonotonicClock`), and answers how many events there are. With `nil` there is no
    /// such time, with 0 it does not wait. Never early, and with nanoseconds, so that waiting for a deadline does not spin.
    package func wait(until deadline: UInt64?) throws(SystemError) -> Int {
        try check("epoll_wait", SystemCalls.epollWait(descriptor.number, events, until: deadline))
    }

    /// One of those that the last `wait` counted.
    package func event(at index: Int) -> (token: UInt64, readiness: Readiness) {
        let event = events[index]
        return (event.token, Readiness(rawValue: event.events))
    }
}
