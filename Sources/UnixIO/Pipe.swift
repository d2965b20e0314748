/// Two ends of a pipe, both blocking.
package struct Pipe: ~Copyable, Sendable {
    package let reading: Descriptor
    package let writing: Descriptor

    package init() throws(SystemError) {
        var ends: (Int32, Int32) = (-1, -1)
        try check("pipe", SystemCalls.pipe(&ends))
        reading = Descriptor(adopting: ends.0)
        writing = Descriptor(adopting: ends.1)
    }

    /// Keeps the other end only, as whoever reads what a child writes must: else the end of file never comes.
    package consuming func closeWriting() -> Descriptor { reading }
    package consuming func closeReading() -> Descriptor { writing }
}
