/// What ends a wait of a tool besides that which it waits for: its own time, or a signal.
package struct WaitLimit: Sendable {
    /// In `MonotonicClock`'s time; nil is never.
    package var deadline: UInt64?
    /// Becomes readable when the tool shall end: the number of a `SignalDescriptor`.
    package var alarm: Int32?

    package init(deadline: UInt64? = nil, alarm: Int32? = nil) {
        self.deadline = deadline
        self.alarm = alarm
    }

    package static let none = WaitLimit()
}
