import Endpoint
import Testing
import UnixIO

@Suite struct SocketPathTests {
    private let user: UInt32 = 1234

    private func resolve(
        option: Path? = nil, _ variables: [String: String] = [:], owners: [Path: UInt32] = [:]
    ) -> SocketPath {
        SocketPath.resolve(
            option: option, environment: { variables[$0].map { Array($0.utf8) } }, user: user,
            directoryOwner: { owners[$0] })
    }

    @Test func theFirstThatIsSetWins() {
        let variables = ["NOTIFICATION_BROKER_SOCKET": "/e/b", "XDG_RUNTIME_DIR": "/x"]
        let owners: [Path: UInt32] = ["/run/user/1234": user, "/x": user]
        #expect(resolve(option: "/o", variables, owners: owners) == SocketPath("/o", .given))
        #expect(resolve(variables, owners: owners) == SocketPath("/e/b", .given))
        let runtime = SocketPath("/x/notification-broker/broker.sock", .found)
        #expect(resolve(["XDG_RUNTIME_DIR": "/x"], owners: owners) == runtime)
        let run = SocketPath("/run/user/1234/notification-broker/broker.sock", .found)
        #expect(resolve(owners: owners) == run)
        #expect(resolve() == SocketPath("/tmp/notification-broker-1234/broker.sock", .found))
    }

    @Test func emptyVariablesAreUnset() {
        let variables = ["NOTIFICATION_BROKER_SOCKET": "", "XDG_RUNTIME_DIR": ""]
        #expect(resolve(variables) == resolve())
    }

    @Test func aRuntimeDirectoryCountsUnlessItIsAnothers() {
        let found = SocketPath("/x/notification-broker/broker.sock", .found)
        #expect(resolve(["XDG_RUNTIME_DIR": "/x"], owners: ["/x": user]) == found)
        #expect(resolve(["XDG_RUNTIME_DIR": "/x"]) == found, "one that is missing yet")
        #expect(resolve(["XDG_RUNTIME_DIR": "/x"], owners: ["/x": 0]) == resolve())
        #expect(resolve(["XDG_RUNTIME_DIR": "x"]) == resolve(), "a relative one")
        #expect(resolve(owners: ["/run/user/1234": 0]) == resolve())
    }

    @Test func bytesThatAreNoTextAreKept() {
        let path = SocketPath.resolve(
            environment: { $0 == SocketPath.variable ? [47, 255, 32] : nil }, user: user)
        #expect(path.path.bytes == [47, 255, 32])
    }

    @Test func ownersAreTheKernelsWord() {
        #expect(SocketPath.owner(ofDirectory: "/") == 0)
        #expect(SocketPath.owner(ofDirectory: "/dev/null") == nil)
        #expect(SocketPath.owner(ofDirectory: "/nonexistent") == nil)
    }
}
