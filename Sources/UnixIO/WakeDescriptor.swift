/// Wakes a thread that waits in `Poller` or `PollEntry`, from any other (eventfd). Readable from `wake` to `clear`.
package struct WakeDescriptor: ~Copyable, Sendable {
    private let descriptor: Descriptor

    package var number: Int32 { descriptor.number }

    package init() throws(SystemError) {
        descriptor = Descriptor(adopting: Int32(try check("eventfd", SystemCalls.eventDescriptor())))
    }

    package func wake() {
        let one: UInt64 = 1
        // Refused only when the count is full, and then the reader is about to wake anyway.
        _ = withUnsafeBytes(of: one) { SystemCalls.write(number, $0) }
    }

    package func clear() {
        var count: UInt64 = 0
        _ = withUnsafeMutableBytes(of: &count) { SystemCalls.read(number, $0) }
    }
}
