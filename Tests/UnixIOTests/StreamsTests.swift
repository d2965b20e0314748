import Glibc
import TestSupport
import Testing
import UnixIO

@Suite struct StreamsTests {
    init() {
        Signal.ignore(.brokenPipe)
    }

    private func writeAll(_ text: String, to number: Int32, alarm: Int32? = nil) -> Streams.WriteAllOutcome {
        Array(text.utf8).withUnsafeBytes { Streams.writeAll($0, to: number, alarm: alarm) }
    }

    @Test func allIsWrittenAndRead() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("f")
        do {
            let file = Descriptor(adopting: open(path.description, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
            #expect(writeAll(String(repeating: "text", count: 50_000), to: file.number) == .done)
        }
        let contents = try FileSystem.contents(of: path)
        #expect(contents == Array(String(repeating: "text", count: 50_000).utf8))
        #expect(try FileSystem.contents(of: path, limit: 6) == Array("textte".utf8))
    }

    @Test func whyItCannotBeWritten() throws {
        let writing = try Pipe().closeReading()
        // A child that is being started holds copies of all descriptors for a moment.
        let readiness = try PollEntry.wait(for: writing.number, [], until: soon())
        #expect(readiness == .error)
        #expect(writeAll("x", to: writing.number) == .closed)
        let full = Descriptor(adopting: open("/dev/full", O_WRONLY | O_CLOEXEC))
        #expect(writeAll("x", to: full.number) == .failed(SystemError("write", code: ENOSPC)))
        #expect(writeAll("x", to: -1) == .failed(SystemError("write", code: EBADF)))
        #expect(writeAll("", to: -1) == .done)
    }

    @Test func anAlarmEndsTheWaitForAReader() throws {
        let pipe = try Pipe()
        let alarm = try WakeDescriptor()
        alarm.wake()
        let text = String(repeating: "x", count: 1 << 20)
        guard case .interrupted(let written) = writeAll(text, to: pipe.writing.number, alarm: alarm.number)
        else {
            Issue.record("not interrupted")
            return
        }
        #expect(written > 0 && written < 1 << 20)
        #expect(pipe.reading.number >= 0)
    }

    @Test func whatStandsForAClosedStreamStaysBroken() throws {
        let broken = try Streams.openBroken()
        var byte: UInt8 = 0
        let outcome = withUnsafeMutableBytes(of: &byte) { Streams.read(broken.number, into: $0) }
        #expect(outcome == .failed(SystemError("read", code: EBADF)))
        #expect(writeAll("x", to: broken.number) == .failed(SystemError("write", code: EBADF)))
        Streams.secureStandardStreams()
        #expect([0, 1, 2].allSatisfy { Streams.isOpen($0) })
        #expect(!Streams.isOpen(1 << 20))
    }

    @Test func aFileIsNoTerminal() throws {
        let file = try FileSystem.openForReading("/dev/null")
        #expect(!Streams.isTerminal(file.number))
        #expect(throws: SystemError("open", code: ENOENT)) {
            _ = try FileSystem.openForReading("/nonexistent")
        }
        #expect(SystemError("open", code: ENOENT).description == "open: No such file or directory")
    }
}

@Suite struct FileSystemTests {
    @Test func whatStandsAtAPath() throws {
        let directory = try TemporaryDirectory()
        let (file, link) = (directory.path.appending("f"), directory.path.appending("l"))
        _ = try FileSystem.openLockFile(file)
        symlink(file.description, link.description)
        mkfifo(directory.path.appending("p").description, 0o644)
        let status = try FileStatus(of: file, followingLinks: false)
        #expect((status.kind, status.mode, status.uid) == (.regular, 0o600, geteuid()))
        #expect(try FileStatus(of: link, followingLinks: false).kind == .link)
        #expect(try FileStatus(of: link, followingLinks: true) == status)
        #expect(try FileStatus(of: directory.path.appending("p"), followingLinks: false).kind == .pipe)
        #expect(try FileStatus(of: directory.path, followingLinks: false).kind == .directory)
        #expect(try FileStatus(of: "/dev/null", followingLinks: false).kind == .device)
        #expect(try FileStatus.ifPresent(directory.path.appending("f/g"), followingLinks: false) == nil)
        #expect(try FileStatus(of: "/tmp", followingLinks: true).isSticky)
        #expect(FileSystem.resolve(link) == file)
        #expect(FileSystem.resolve(directory.path.appending("none")) == nil)
        try FileSystem.remove(link)
        #expect(throws: SystemError("unlink", code: ENOENT)) { try FileSystem.remove(link) }
    }

    @Test func aLockIsHeldOnce() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("lock")
        let second = try FileSystem.openLockFile(path)
        let first = try FileSystem.openLockFile(path)
        #expect(try FileSystem.lock(first))
        #expect(try FileSystem.lock(first))
        #expect(try !FileSystem.lock(second))
        flock(first.number, LOCK_UN)
        #expect(try FileSystem.lock(second))
    }

    @Test func directoriesAreMadeOnce() throws {
        let directory = try TemporaryDirectory()
        #expect(try FileSystem.makeDirectory(directory.path.appending("d"), mode: 0o700))
        #expect(try !FileSystem.makeDirectory(directory.path.appending("d"), mode: 0o700))
        #expect(throws: SystemError("mkdir", code: ENOENT)) {
            _ = try FileSystem.makeDirectory(directory.path.appending("a/b"), mode: 0o700)
        }
    }
}

@Suite struct PathTests {
    @Test(arguments: [
        ("/a/b", "/a"), ("/b", "/"), ("b", "."), ("a/b", "a"), ("//a//b", "//a"), ("/a/", "/a"), ("//b", "/"),
        ("", "."),
    ])
    func parents(path: String, parent: String) {
        #expect(Path(path).parent.description == parent)
    }

    @Test func parts() {
        #expect(Path("/a/bc/d").prefixes == ["/", "/a", "/a/bc", "/a/bc/d"])
        #expect(Path("a//b/").prefixes == ["a", "a//b"])
        #expect(Path("/a/").lastComponent.isEmpty)
        #expect(Path("/").appending("x") == "/x")
        #expect(Path("/a").appending("x") == "/a/x")
        #expect(Path(bytes: [47, 255, 0, 65]).bytes == [47, 255])
    }
}
