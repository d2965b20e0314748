import Endpoint
import Glibc
import TestSupport
import Testing
import UnixIO

/// What was thrown, nil if nothing was.
func refusal(_ body: () throws(EndpointError) -> Void) -> EndpointError? {
    do throws(EndpointError) {
        try body()
        return nil
    } catch {
        return error
    }
}

func listening(at path: Path, _ origin: SocketPath.Origin = .given, user: UInt32 = geteuid())
    -> EndpointError?
{
    refusal { () throws(EndpointError) in
        _ = try ListeningEndpoint(at: SocketPath(path, origin), user: user)
    }
}

func exists(_ path: Path) -> Bool {
    (try? FileStatus(of: path, followingLinks: false)) != nil
}

@Suite struct ListeningEndpointTests {
    @Test func itsFilesAreThereForItsLife() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("s")
        do {
            let endpoint = try ListeningEndpoint(at: SocketPath(path, .given), mode: 0o660)
            #expect(endpoint.path == path)
            #expect(try FileStatus(of: path, followingLinks: false).mode == 0o660)
            let client = try ClientEndpoint.connect(to: SocketPath(path, .found))
            guard case .connection = endpoint.socket.accept() else {
                Issue.record("no connection")
                return
            }
            #expect(client.readableBytes() == 0)
            endpoint.removeFiles()
            #expect(!exists(path))
            endpoint.removeFiles()
        }
        #expect(!exists(path.suffixed(".broker-lock")))
    }

    @Test func missingDirectoriesAreMadeForTheUserAlone() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("a/b/c/s")
        let endpoint = try ListeningEndpoint(at: SocketPath(path, .found))
        for made in ["a", "a/b", "a/b/c"] {
            #expect(try FileStatus(of: directory.path.appending(made), followingLinks: false).mode == 0o700)
        }
        #expect(endpoint.path == path)
    }

    @Test func aLivingBrokerIsLeftAlone() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("s")
        let endpoint = try ListeningEndpoint(at: SocketPath(path, .given))
        let before = try FileStatus(of: path, followingLinks: false)
        for _ in 0..<3 { #expect(listening(at: path) == .inUse(path)) }
        #expect(try FileStatus(of: path, followingLinks: false) == before)
        guard case .wouldBlock = endpoint.socket.accept() else {
            Issue.record("it was even asked")
            return
        }
        endpoint.removeFiles()
        #expect(listening(at: path) == nil, "its end may overlap with the next one's start")
    }

    @Test(arguments: [0, 8] as [Int32])
    func anotherListenerIsLeftAlone(backlog: Int32) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("s")
        let other = try ListeningSocket(at: path, mode: 0o600, backlog: backlog)
        let before = try FileStatus(of: path, followingLinks: false)
        for _ in 0..<3 { #expect(listening(at: path) == .inUse(path)) }
        #expect(try FileStatus(of: path, followingLinks: false) == before)
        #expect(!exists(path.suffixed(".broker-lock")))
        #expect(other.number >= 0)
    }

    @Test func aSocketOfAnotherTypeIsLeftAlone() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("s")
        let other = try BoundSocket(.datagram, at: path)
        #expect(listening(at: path) == .inUse(path))
        #expect(exists(path))
        #expect(other.number >= 0)
    }

    @Test func aStaleSocketIsTakenOver() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("s")
        let stale = try BoundSocket(.stream, at: path)
        let before = try FileStatus(of: path, followingLinks: false).identity
        // As after a kill: the lock's file is left, too.
        _ = try FileSystem.openLockFile(path.suffixed(".broker-lock"))
        let endpoint = try ListeningEndpoint(at: SocketPath(path, .given))
        #expect(try FileStatus(of: path, followingLinks: false).identity != before)
        #expect(endpoint.socket.number != stale.number)
    }

    @Test func whatIsNoSocketIsNeverRemoved() throws {
        let directory = try TemporaryDirectory()
        let file = directory.path.appending("file")
        _ = try FileSystem.openLockFile(file)
        symlink(file.description, directory.path.appending("link").description)
        symlink("nowhere", directory.path.appending("dangling").description)
        mkfifo(directory.path.appending("fifo").description, 0o600)
        #expect(try FileSystem.makeDirectory(directory.path.appending("folder"), mode: 0o700))
        for name in ["file", "link", "dangling", "fifo", "folder", "folder/"] {
            let path = directory.path.appending(name)
            let before = try FileStatus(of: path, followingLinks: false)
            guard case .cannotCreate(path, _) = listening(at: path) else {
                Issue.record("\(name) was not refused")
                continue
            }
            #expect(try FileStatus(of: path, followingLinks: false) == before)
        }
        #expect(!exists(directory.path.appending("nowhere")))
    }

    @Test func aFileThatSomebodyPutInItsPlaceIsLeft() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("s")
        do {
            _ = try ListeningEndpoint(at: SocketPath(path, .given))
            #expect(!exists(path))
            let endpoint = try ListeningEndpoint(at: SocketPath(path, .given))
            try FileSystem.remove(path)
            _ = try FileSystem.openLockFile(path)
            #expect(endpoint.path == path)
        }
        #expect(exists(path))
    }

    @Test func aLockFileThatWasRemovedGivesNobodyTheSocket() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("s")
        let endpoint = try ListeningEndpoint(at: SocketPath(path, .given))
        try FileSystem.remove(path.suffixed(".broker-lock"))
        #expect(listening(at: path) == .inUse(path))
        #expect(exists(endpoint.path))
    }

    @Test func aLockThatIsNoFileIsRefused() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("s")
        symlink("elsewhere", path.suffixed(".broker-lock").description)
        guard case .cannotCreate = listening(at: path) else {
            Issue.record("a link was followed")
            return
        }
        #expect(!exists(directory.path.appending("elsewhere")))
    }

    @Test func aPathThatDoesNotFitIsNamedWithBothLengths() throws {
        let directory = try TemporaryDirectory()
        let fitting = directory.path.suffixed(
            "/" + String(repeating: "p", count: 106 - directory.path.bytes.count))
        #expect(listening(at: fitting) == nil)
        let long = fitting.suffixed("p")
        #expect(listening(at: long) == .pathTooLong(long))
        let message = EndpointError.pathTooLong(long).description
        #expect(message.contains("108 bytes") && message.contains("107"))
        #expect(
            refusal { () throws(EndpointError) in _ = try ClientEndpoint.connect(to: SocketPath(long, .given))
            }
                == .pathTooLong(long))
    }

    @Test(.timeLimit(.minutes(5)))
    func ofManyThatStartAtOnceOneServes() async throws {
        final class Served: Sendable {
            let endpoint: ListeningEndpoint
            init(_ endpoint: consuming ListeningEndpoint) { self.endpoint = endpoint }
        }
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("s")
        for round in 0..<1000 {
            let stale = round % 2 == 0 ? try BoundSocket(.stream, at: path) : nil
            let outcomes = await withTaskGroup(of: Result<Served, EndpointError>.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        do throws(EndpointError) {
                            return .success(Served(try ListeningEndpoint(at: SocketPath(path, .given))))
                        } catch {
                            return .failure(error)
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let refusals = outcomes.compactMap { outcome in
                if case .failure(let error) = outcome { error } else { nil }
            }
            #expect(refusals == [.inUse(path)], "round \(round)")
            #expect(throws: Never.self) { _ = try ClientEndpoint.connect(to: SocketPath(path, .given)) }
            #expect((stale?.number ?? 0) >= 0)
            for case .success(let served) in outcomes { served.endpoint.removeFiles() }
        }
    }
}

@Suite struct PassedSocketTests {
    @Test func noneIsPassed() throws {
        func isPassed(_ variables: [String: String]) throws(EndpointError) -> Bool {
            let endpoint = try ListeningEndpoint.passed(
                environment: { variables[$0].map { Array($0.utf8) } }, pid: 42)
            return endpoint != nil
        }
        #expect(try !isPassed([:]))
        #expect(try !isPassed(["LISTEN_FDS": "1", "LISTEN_PID": "41"]))
        #expect(throws: EndpointError.self) { try isPassed(["LISTEN_FDS": "2", "LISTEN_PID": "42"]) }
    }

    /// One descriptor that is passed, at a number of its own: number 3 may be anybody's in a process of tests.
    private func passed(_ number: Int32) throws(EndpointError) -> ListeningEndpoint? {
        try ListeningEndpoint.passed(
            environment: { $0 == "LISTEN_FDS" ? Array("1".utf8) : nil }, pid: 42, first: dup(number))
    }

    @Test func aPassedSocketIsServedAndItsFileLeft() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("s")
        let listener = try ListeningSocket(at: path, mode: 0o600)
        let early = try StreamSocket.connect(to: path)
        do {
            let endpoint = try passed(listener.number)
            guard let endpoint, case .connection = endpoint.socket.accept() else {
                Issue.record("no endpoint that accepts")
                return
            }
            #expect(endpoint.path == path)
            endpoint.removeFiles()
        }
        #expect(exists(path))
        #expect(early.readableBytes() == 0)
    }

    @Test func whatIsNoListenerIsRefused() throws {
        let pipe = try Pipe()
        let refused = refusal { () throws(EndpointError) in _ = try passed(pipe.reading.number) }
        guard case .badPassedSocket = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
    }
}
