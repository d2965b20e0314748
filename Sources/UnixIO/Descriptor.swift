/// An open file, socket, or other thing of the kernel, closed when its owner is gone.
package struct Descriptor: ~Copyable, Sendable {
    package let number: Int32

    /// Takes the ownership of an open descriptor.
    package init(adopting number: Int32) {
        self.number = number
    }

    /// Gives the ownership away: the caller closes it.
    package consuming func release() -> Int32 {
        let number = self.number
        discard self
        return number
    }

    deinit {
        SystemCalls.close(number)
    }
}
