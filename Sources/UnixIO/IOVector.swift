/// A piece of memory to write, in the layout that the kernel takes. It does not own the memory.
package struct IOVector {
    package var base: UnsafeRawPointer?
    package var count: Int

    package init(_ base: UnsafeRawPointer?, _ count: Int) {
        self.base = base
        self.count = count
    }

    /// As many as the kernel takes at once.
    package static let most = 1024
}
