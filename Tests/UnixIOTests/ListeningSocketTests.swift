import Glibc
import TestSupport
import Testing
import UnixIO

@Suite struct ListeningSocketTests {
    @Test(arguments: [0o600, 0o660, 0o666, 0o777, 0] as [UInt32])
    func theFileHasTheModeAskedFor(mode: UInt32) throws {
        let directory = try TemporaryDirectory()
        let listener = try ListeningSocket(at: directory.path.appending("s"), mode: mode)
        let status = try FileStatus(of: directory.path.appending("s"), followingLinks: false)
        #expect(status.kind == .socket)
        #expect(status.mode == mode)
        #expect(listener.path() == directory.path.appending("s"))
    }

    @Test func theModeIsThatWhateverTheUmask() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            for (mask, mode) in [(0o777, 0o600), (0o777, 0o666), (0, 0o600), (0, 0o660)] as [(UInt32, UInt32)]
            {
                umask(mask)
                let path = directory.path.appending("\(mask)-\(mode)")
                _ = try ListeningSocket(at: path, mode: mode)
                #expect(try FileStatus(of: path, followingLinks: false).mode == mode)
                #expect(try FileSystem.makeDirectory(path.suffixed(".d"), mode: 0o700))
                #expect(try FileStatus(of: path.suffixed(".d"), followingLinks: false).mode == 0o700)
                _ = try FileSystem.openLockFile(path.suffixed(".l"))
                #expect(try FileStatus(of: path.suffixed(".l"), followingLinks: false).mode == 0o600)
            }
        }
    }

    @Test func whatStandsThereIsNotReplaced() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path.appending("s")
        do { _ = try ListeningSocket(at: path, mode: 0o600) }
        #expect(throws: SystemError("bind", code: EADDRINUSE)) {
            _ = try ListeningSocket(at: path, mode: 0o600)
        }
    }

    @Test func acceptTellsWhoConnected() throws {
        let directory = try TemporaryDirectory()
        let listener = try ListeningSocket(at: directory.path.appending("s"), mode: 0o600)
        guard case .wouldBlock = listener.accept() else { throw NoConnection() }
        let client = try StreamSocket.connect(to: directory.path.appending("s"))
        guard case .connection(let accepted, let peer) = listener.accept() else { throw NoConnection() }
        #expect(peer == PeerCredentials(pid: getpid(), uid: geteuid(), gid: getegid()))
        #expect(accepted.read().outcome == .wouldBlock)
        #expect(client.number != accepted.number)
    }

    @Test func withoutDescriptorsAcceptSaysSoAndGoesOnLater() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let listener = try ListeningSocket(at: directory.path.appending("s"), mode: 0o600)
            let client = try StreamSocket.connect(to: directory.path.appending("s"))
            let old = try CurrentProcess.descriptorLimit()
            var limit = rlimit(rlim_cur: 0, rlim_max: rlim_t(old.hard))
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            guard case .descriptorsExhausted(let error) = listener.accept() else { throw NoConnection() }
            #expect(error == SystemError("accept", code: EMFILE))
            #expect(try CurrentProcess.raiseDescriptorLimit().soft == old.hard)
            guard case .connection = listener.accept() else { throw NoConnection() }
            #expect(client.readableBytes() == 0)
        }
    }

    @Test func onlyAListeningUnixStreamIsAdopted() throws {
        let directory = try TemporaryDirectory()
        func adopt(_ number: Int32) throws -> ListeningSocket { try ListeningSocket(adopting: number) }
        #expect(throws: SystemError("getsockopt", code: EBADF)) { _ = try adopt(-1) }
        let pipe = try Pipe()
        #expect(throws: SystemError("getsockopt", code: ENOTSOCK)) { _ = try adopt(pipe.reading.number) }
        for (domain, type) in [
            (AF_UNIX, SOCK_DGRAM), (AF_UNIX, SOCK_SEQPACKET), (AF_UNIX, SOCK_STREAM), (AF_INET, SOCK_STREAM),
        ] {
            let other = Descriptor(adopting: socket(domain, Int32(type.rawValue), 0))
            let refusal = SystemError("getsockopt", code: EINVAL)
            #expect(throws: refusal) { _ = try adopt(other.number) }
            #expect(fcntl(other.number, F_GETFD) == 0, "a refused descriptor is left as it was")
        }
        let path = directory.path.appending("s")
        let listener = try ListeningSocket(at: path, mode: 0o600)
        let number = dup(listener.number)
        let adopted = try adopt(number)
        #expect(adopted.path() == path)
        #expect(fcntl(number, F_GETFD) == FD_CLOEXEC)
        let client = try StreamSocket.connect(to: path)
        guard case .connection = adopted.accept() else { throw NoConnection() }
        #expect(client.readableBytes() == 0)
    }
}
