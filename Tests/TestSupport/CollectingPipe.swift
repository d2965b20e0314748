import UnixIO

/// A pipe whose writing end goes to a tool; what comes out is read by the stage.
package final class CollectingPipe {
    package let stream: ByteStream
    private var writing: Descriptor?

    package init(on stage: Stage) throws {
        let pipe = try Pipe()
        stream = stage.read(Descriptor(adopting: duplicate(pipe.reading.number)))
        writing = Descriptor(adopting: duplicate(pipe.writing.number))
    }

    package var writingNumber: Int32 { writing?.number ?? -1 }

    /// The test's own writing end: without it the stream ends when the tools' have ended.
    package func closeWriting() { writing = nil }
}
