import Endpoint
import Glibc
import TestSupport
import Testing
import UnixIO

/// Whom broker and client trust. Another user is played by passing a uid that is not this process's.
@Suite struct OwnershipTests {
    private func connecting(
        to path: Path, _ origin: SocketPath.Origin, user: UInt32 = geteuid()
    ) -> EndpointError? {
        refusal { () throws(EndpointError) in
            _ = try ClientEndpoint.connect(to: SocketPath(path, origin), user: user)
        }
    }

    private func isRefused(_ error: EndpointError?) -> Bool {
        if case .notPermitted = error { true } else { false }
    }

    @Test func withoutBrokerThereIsNone() throws {
        let directory = try TemporaryDirectory()
        let stale = try BoundSocket(.stream, at: directory.path.appending("stale"))
        let datagram = try BoundSocket(.datagram, at: directory.path.appending("datagram"))
        _ = try FileSystem.openLockFile(directory.path.appending("file"))
        for name in ["none", "no/such/directory", "file/s", "stale", "datagram", "file", ""] {
            for origin in [SocketPath.Origin.given, .found] where origin == .given || name != "file/s" {
                guard case .noBroker = connecting(to: directory.path.appending(name), origin) else {
                    Issue.record(
                        "\(name): \(String(describing: connecting(to: directory.path.appending(name), origin)))"
                    )
                    continue
                }
            }
        }
        #expect(stale.number != datagram.number)
    }

    @Test(arguments: [0o770, 0o702, 0o777] as [UInt32])
    func aDirectoryThatOthersMayWrite(mode: UInt32) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("s")
        let endpoint = try ListeningEndpoint(at: SocketPath(path, .given))
        #expect(connecting(to: path, .found) == nil)
        chmod(directory.path.description, mode)
        #expect(isRefused(connecting(to: path, .found)))
        #expect(connecting(to: path, .given) == nil)
        for origin in [SocketPath.Origin.given, .found] {
            #expect(
                isRefused(listening(at: directory.path.appending("t"), origin)),
                "in /tmp even where it is given")
        }
        #expect(!exists(directory.path.appending("t.broker-lock")))
        #expect(endpoint.path == path)
    }

    @Test func aDirectoryThatIsALink() throws {
        let directory = try TemporaryDirectory()
        #expect(try FileSystem.makeDirectory(directory.path.appending("real"), mode: 0o700))
        symlink("real", directory.path.appending("link").description)
        let path = directory.path.appending("link/s")
        #expect(isRefused(listening(at: path, .found)))
        #expect(!exists(directory.path.appending("real/s.broker-lock")))
        let endpoint = try ListeningEndpoint(at: SocketPath(path, .given))
        #expect(isRefused(connecting(to: path, .found)))
        #expect(connecting(to: path, .given) == nil)
        #expect(connecting(to: directory.path.appending("real/s"), .found) == nil)
        #expect(endpoint.path == path)
    }

    @Test func aDirectoryOfAnotherUser() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("s")
        let endpoint = try ListeningEndpoint(at: SocketPath(path, .given))
        let other = geteuid() + 1
        #expect(isRefused(connecting(to: path, .found, user: other)))
        #expect(connecting(to: path, .given, user: other) == nil)
        for origin in [SocketPath.Origin.given, .found] {
            #expect(isRefused(listening(at: directory.path.appending("t"), origin, user: other)))
        }
        #expect(!exists(directory.path.appending("t.broker-lock")))
        #expect(endpoint.path == path)
    }

    @Test func directoriesAboveInTmp() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("own/s")
        #expect(listening(at: path) == nil)
        chmod(directory.path.description, 0o1777)
        #expect(listening(at: path) == nil, "sticky, so nobody can replace what is in it")
        chmod(directory.path.description, 0o777)
        #expect(isRefused(listening(at: path)))
        symlink(directory.path.description, "\(directory.path).link")
        defer { unlink("\(directory.path).link") }
        #expect(isRefused(listening(at: Path("\(directory.path).link/own/s"))))
    }

    @Test(.enabled(if: geteuid() == 0))
    func aListenerOfAnotherUser() async {
        await #expect(processExitsWith: .success) {
            let (user, stranger): (UInt32, UInt32) = (12345, 23456)
            let directory = try TemporaryDirectory()
            let (rooted, foreign) = (directory.path.appending("root"), directory.path.appending("foreign"))
            let root = try ListeningSocket(at: rooted, mode: 0o666)
            chmod(directory.path.description, 0o755)
            let descriptor = Descriptor(adopting: dup(root.number))
            chown(directory.path.description, stranger, stranger)
            seteuid(stranger)
            // Whoever calls listen is the one who listens.
            let other = try ListeningSocket(at: foreign, mode: 0o666)
            seteuid(0)
            chown(directory.path.description, user, user)
            let refused = refusal { () throws(EndpointError) in
                _ = try ClientEndpoint.connect(to: SocketPath(foreign, .found), user: user)
            }
            guard case .notPermitted = refused else { exit(1) }
            _ = try ClientEndpoint.connect(to: SocketPath(foreign, .given), user: user)
            _ = try ClientEndpoint.connect(to: SocketPath(rooted, .found), user: user)
            #expect(other.number != descriptor.number)
        }
    }

    @Test func aBrokerThatDoesNotAnswer() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("s")
        let listener = try ListeningSocket(at: path, mode: 0o600, backlog: 0)
        let first = try ClientEndpoint.connect(to: SocketPath(path, .given))
        let second = refusal { () throws(EndpointError) in
            _ = try ClientEndpoint.connect(
                to: SocketPath(path, .given), until: MonotonicClock.now() + 5_000_000)
        }
        #expect(second == .notAnswering(path))
        #expect(listener.number != first.number)
    }
}
