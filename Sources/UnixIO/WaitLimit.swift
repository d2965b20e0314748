/// What ends a wait besides that which is waited for: its own time, or an alarm.
package struct WaitLimit: Sendable {
    /// In `MonotonicClock`'s time; nil is never.
    package var deadline: UInt64?
    /// A descriptor that becomes readable when the wait shall end: a `SignalDescriptor`'s number, say.
    package var alarm: Int32?

    package init(deadline: UInt64? = nil, alarm: Int32? = nil) {
        self.deadline = deadline
        self.alarm = alarm
    }

    package static let none = WaitLimit()
}
