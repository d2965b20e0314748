import TestSupport
import Testing
import UnixIO

@Suite struct WorkerThreadTests {
    @Test func itRunsBesideUsAndItsTimeIsItsOwn() throws {
        let done = try WakeDescriptor()
        let before = CPUClock.thisThread()
        let number = done.number
        try WorkerThread.start {
            let start = CPUClock.thisThread()
            while CPUClock.thisThread() - start < 2_000_000 {}
            _ = withUnsafeBytes(of: UInt64(1)) { Streams.write($0, to: number) }
        }
        let found = try PollEntry.wait(for: number, .readable, until: MonotonicClock.deadline(inSeconds: 20))
        #expect(found == .readable)
        #expect(CPUClock.thisThread() >= before)
        let whole = try #require(CPUClock.process(CurrentProcess.pid))
        #expect(whole >= 2_000_000)
        done.clear()
    }

    @Test func noProcessHasNoTime() {
        #expect(CPUClock.process(0) == nil)
        #expect(CPUClock.process(-1) == nil)
        // Linux gives no pid above 2^22.
        #expect(CPUClock.process((1 << 22) + 1) == nil)
    }

    @Test func onlyAnEmptyDirectoryIsRemoved() throws {
        let directory = try TemporaryDirectory()
        let inner = directory.path.appending("inner")
        #expect(try FileSystem.makeDirectory(inner, mode: 0o700))
        #expect(throws: SystemError.self) { try FileSystem.removeDirectory(directory.path) }
        try FileSystem.removeDirectory(inner)
        #expect(try FileStatus.ifPresent(inner, followingLinks: false) == nil)
    }
}
