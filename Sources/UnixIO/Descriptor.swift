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

extension Descriptor {
    /// A file without a name that holds these bytes, to be read from its start.
    package static func memoryFile(holding bytes: [UInt8]) throws(SystemError) -> Descriptor {
        let file = Descriptor(adopting: Int32(try check("memfd_create", SystemCalls.memoryFile())))
        let outcome = bytes.withUnsafeBytes { Streams.writeAll($0, to: file.number) }
        if case .failed(let error) = outcome { throw error }
        try check("lseek", SystemCalls.seekToStart(file.number))
        return file
    }
}
