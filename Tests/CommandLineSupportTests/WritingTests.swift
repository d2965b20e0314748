import CommandLineSupport
import TestSupport
import Testing
import UnixIO

/// What standard output does to records, on descriptors of the test's own.
@Suite(.ownThreads) struct WritingTests {
    private func write(
        _ bytes: [UInt8], to number: Int32, deadline: UInt64? = nil, alarm: Int32? = nil
    ) -> Streams.WriteAllOutcome {
        bytes.withUnsafeBytes { Streams.writeAll($0, to: number, deadline: deadline, alarm: alarm) }
    }

    @Test func aStuckReaderIsWaitedForUntilTheDeadlineOrTheAlarm() throws {
        let pipe = try Pipe()
        let lines = Array(repeatElement(Array("a line of some length\n".utf8), count: 10_000).joined())
        let soon = MonotonicClock.deadline(inSeconds: 0.2)
        guard case .interrupted(let count) = write(lines, to: pipe.writing.number, deadline: soon) else {
            Issue.record("it was not interrupted")
            return
        }
        #expect(count > 0 && count < lines.count)
        #expect(count.isMultiple(of: 22), "whole lines in each piece")
        let alarm = try Pipe()
        #expect(write([1], to: alarm.writing.number) == .done)
        #expect(write(lines, to: pipe.writing.number, alarm: alarm.reading.number) == .interrupted(0))
    }

    @Test func aReaderThatIsGoneIsToldApartFromAFullDisk() throws {
        let pipe = try Pipe()
        Signal.ignore(.brokenPipe)
        let closed = try brokenPipe()
        #expect(write([1], to: closed.number) == .closed)
        #expect(write([1], to: closed.number, deadline: 0) == .closed)
        let full = try openForWriting("/dev/full")
        #expect(write([1], to: full.number) == .failed(SystemError("write", code: 28)))
        #expect(write([1], to: pipe.reading.number) == .failed(SystemError("write", code: 9)))
        #expect(StandardOutput.Trouble.closed.failure == nil)
        #expect(
            StandardOutput.Trouble.failed(SystemError("write", code: 28)).failure
                == Failure(.outputFailed, "can't write to standard output: No space left on device"))
    }

    @Test func aFileThatCannotBeReadIsNamed() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("absent\n")
        #expect(
            throws: Failure(.unreadableInput, "can't read '\(path)': No such file or directory")
        ) { try InputFile.contents(path.bytes, atMost: 10) }
        #expect(throws: Failure(.unreadableInput, "can't read '\(directory.path)': Is a directory")) {
            try InputFile.contents(directory.path.bytes, atMost: 10)
        }
        #expect(throws: Failure(.dataRefused, "'/dev/zero' is too large: more than 10 bytes")) {
            try InputFile.contents(Array("/dev/zero".utf8), atMost: 10)
        }
        #expect(
            try InputFile.contents(Array("/proc/sys/kernel/ostype".utf8), atMost: 6) == Array("Linux\n".utf8))
    }

    @Test func linesAreReadFromADescriptor() throws {
        let pipe = try Pipe()
        var lines = LineBuffer()
        #expect(write(Array("one\ntw".utf8), to: pipe.writing.number) == .done)
        try lines.read(from: pipe.reading.number, called: "the pipe")
        #expect(lines.next() == Array("one".utf8))
        #expect(lines.next() == nil)
        let never: Int32 = 1_000_000
        try lines.read(from: never, called: "what is closed")
        #expect(lines.next() == Array("tw".utf8))
        #expect(throws: Failure(.unreadableInput, "can't read the folder: Is a directory")) {
            let folder = try FileSystem.openForReading("/")
            try lines.read(from: folder.number, called: "the folder")
        }
    }
}
