import TestSupport
import Testing
import WireProtocol

@testable import BrokerCore

@Suite struct RetainedStoreTests {
    private func notification(_ seq: UInt64, _ name: String, _ object: String?, bytes: Int, uid: UInt32)
        -> RetainedNotification
    {
        let info = [UInt8](repeating: 0x20, count: bytes)
        return info.withUnsafeBytes { info in
            RetainedNotification(
                seq: seq, time: 0, sender: .init(connection: 1, pid: 1, uid: uid, gid: 1),
                name: Array(name.utf8), object: object.map { Array($0.utf8) }, deliverImmediately: false,
                userInfo: bytes == 0 ? nil : info)
        }
    }

    private func text(_ notification: RetainedNotification) -> String {
        "\(notification.seq)"
    }

    /// Room, quotas and what observers are given, against a plain list.
    @Test(arguments: 1...20)
    func keepsAsAListDoes(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var store = RetainedStore(room: 400)
        var kept: [RetainedNotification] = []
        for seq in 1...UInt64(500) {
            let name = random.pick(["a", "ab", "b", "cc"])
            let object = random.pick([nil, "", "o", "pp"])
            let uid = UInt32(random.pick([0, 7, 8]))
            let next = notification(seq, name, object, bytes: random.below(100), uid: uid)
            let isForeign = uid != 0
            let old = kept.first { $0.name == next.name && $0.object == next.object }
            let others = kept.filter { $0 !== old }
            let clears = random.oneIn(4)
            let charge = next.name.count + (next.object?.count ?? 0) + next.userInfoBytes
            let isForbidden = isForeign && old.map { $0.sender.uid != uid } ?? false
            let isTooMuch =
                others.reduce(charge) { $0 + $1.charge } > 400
                || (isForeign
                    && others.filter { $0.sender.uid == uid }.reduce(charge) { $0 + $1.charge } > 100)
            var refused: String?
            do throws(RetainedStore.Refusal) {
                try store.check(
                    name: next.name, object: next.object, charge: clears ? nil : charge, uid: uid,
                    isForeign: isForeign)
            } catch {
                switch error {
                case .foreign: refused = "foreign"
                case .noRoom: refused = "room"
                }
            }
            #expect(
                refused == (isForbidden ? "foreign" : isTooMuch && !clears ? "room" : nil),
                "seed \(seed) seq \(seq)")
            if refused != nil { continue }
            kept.removeAll { $0 === old }
            if clears {
                store.clear(name: next.name, object: next.object)
            } else {
                store.keep(next)
                kept.append(next)
            }
            #expect(store.count == kept.count)
            if let old {
                #expect(!store.matching(.name(old.name), object: old.object).contains { $0 === old })
            }
            let subject: Observation.Subject =
                switch random.below(3) {
                case 0: .everything
                case 1: .name(Array(random.pick(["a", "ab", "x"]).utf8))
                default: .pattern([0x61, 0x2A], try NamePattern([0x61, 0x2A]))
                }
            let wanted = random.pick([nil, "", "o"]).map { Array($0.utf8) }
            let found = store.matching(subject, object: wanted).map(text)
            let expected = kept.filter { (wanted == nil || $0.object == wanted) && subject.matches($0.name) }
            #expect(found == expected.map(text), "seed \(seed) seq \(seq)")
        }
    }

    @Test func whatIsReplacedIsSkippedByAReplayUnderWay() {
        var store = RetainedStore(room: 1 << 20)
        for seq in 1...UInt64(5) {
            store.keep(notification(seq, "n\(seq)", nil, bytes: 2, uid: 0))
        }
        let replay = Replay(label: [0x6C], store.matching(.everything, object: nil))
        var seen: [UInt64] = []
        func pull() {
            replay.pull(upTo: 1) { piece, _, notifications in
                guard notifications == 1 else { return }
                let text = String(
                    decoding: UnsafeRawBufferPointer(start: piece.start + 4, count: piece.count - 4),
                    as: UTF8.self)
                seen += (1...9).filter { text.contains("\"seq\":\($0),") }
            }
        }
        pull()
        store.clear(name: Array("n2".utf8), object: nil)
        store.keep(notification(6, "n4", nil, bytes: 2, uid: 0))
        pull()
        pull()
        #expect(seen == [1, 3, 5])
        #expect(replay.isFinished)
    }

    @Test func aLargeUserInfoIsNotCopied() {
        var store = RetainedStore(room: 1 << 20)
        let large = notification(1, "n", "o", bytes: 20_000, uid: 0)
        store.keep(large)
        let replay = Replay(label: [0x6C], store.matching(.everything, object: nil))
        var counts: [Int] = []
        replay.pull(upTo: 1) { piece, owner, notifications in
            counts.append(notifications)
            if piece.count == 20_000 { #expect(owner === large.userInfo) }
        }
        #expect(counts == [1, 0, 0] && replay.isFinished)
    }
}

@Suite struct AccessPolicyTests {
    private func policy(_ connections: Int = 8) -> AccessPolicy {
        var configuration = Configuration(ownUser: 500, pid: 1, version: "", instance: "", seed: 1)
        configuration.maxConnections = connections
        configuration.allowedUsers = [600, 700]
        return AccessPolicy(configuration)
    }

    @Test func whoMayConnect() {
        var policy = policy()
        #expect(policy.admit(500) == nil && policy.admit(0) == nil && policy.admit(600) == nil)
        #expect(policy.admit(501)?.contains("501") == true)
        #expect(!policy.isForeign(500) && !policy.isForeign(0) && policy.isForeign(600))
    }

    @Test func anotherUserHasAQuarter() {
        var policy = policy()
        #expect(policy.admit(600) == nil && policy.admit(600) == nil)
        #expect(policy.admit(600)?.contains("limit for another user is 2") == true)
        #expect(policy.admit(700) == nil)
        policy.leave(600)
        #expect(policy.admit(600) == nil)
    }

    @Test func allConnectionsAreBounded() {
        var policy = policy(3)
        for _ in 0..<3 { #expect(policy.admit(500) == nil) }
        #expect(policy.admit(500)?.contains("limit is 3") == true)
        policy.leave(500)
        #expect(policy.admit(0) == nil)
    }

    @Test func observersAreBounded() {
        var policy = policy()
        for _ in 0..<250_000 { _ = policy.addObserver(600) }
        #expect(policy.addObserver(600) == 250_000)
        #expect(policy.addObserver(700) == nil)
        policy.removeObservers(1, of: 600)
        #expect(policy.addObserver(600) == nil)
    }
}

@Suite struct BusiestNamesTests {
    @Test func theBusiestComeFirstWhateverElsePasses() {
        let busiest = BusiestNames()
        #expect(!busiest.isCounting)
        busiest.start()
        #expect(busiest.isCounting)
        var random = SeededGenerator(seed: 5)
        for round in 0..<5000 {
            let name =
                random.oneIn(2)
                ? ["hot", "warm", "warm2"][random.below(10) / 5 + random.below(2) * (round % 2)]
                : "once\(round)"
            Array(name.utf8).withUnsafeBytes { busiest.count($0) }
        }
        let top = busiest.top(3).map { String(decoding: $0.name, as: UTF8.self) }
        #expect(Set(top).isSuperset(of: ["hot", "warm"]))
        #expect(busiest.top(1000).count == 256)
    }
}
