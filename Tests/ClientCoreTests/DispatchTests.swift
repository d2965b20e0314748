import TestSupport
import Testing
import WireProtocol

@testable import ClientCore

@Suite struct DispatchTests {
    private var session = ClientSession(greeting: "g")

    private mutating func observe(_ observations: Observation...) throws {
        for observation in observations {
            _ = session.observe(observation)
        }
        try connect(to: "i1")
    }

    private mutating func connect(to instance: String) throws {
        session.connected(at: 0)
        _ = try session.receive(welcome(instance))
        _ = try session.confirmObservers(among: session.takeAll())
    }

    @Test mutating func namesGlobsAndAllInTheOrderOfRegistration() throws {
        try observe(
            Observation(.all), Observation(.name("a.b")), Observation(.matching("a.*")),
            Observation(.name("c")),
            Observation(.name("a.b")))
        #expect(try session.receive(notification(1, "a.b"))?.receivers == [1, 2, 3, 5])
        #expect(try session.receive(notification(2, "a.c"))?.receivers == [1, 3])
        #expect(try session.receive(notification(3, "c"))?.receivers == [1, 4])
    }

    @Test mutating func objectsFilter() throws {
        try observe(
            Observation(.name("N"), object: "o"), Observation(.name("N")), Observation(.name("N"), object: "")
        )
        #expect(try session.receive(notification(1, more: #","object":"\u006f""#))?.receivers == [1, 2])
        #expect(try session.receive(notification(2, more: #","object":"""#))?.receivers == [2, 3])
        #expect(try session.receive(notification(3))?.receivers == [2])
        #expect(try session.receive(notification(4, more: #","object":null"#))?.receivers == [2])
    }

    @Test mutating func namesAreBytes() throws {
        try observe(Observation(.name("\u{E9}")), Observation(.name("e\u{301}")))
        #expect(try session.receive(notification(1, "\u{E9}"))?.receivers == [1])
        #expect(try session.receive(notification(2, #"e\u0301"#))?.receivers == [2])
    }

    @Test mutating func nobodyGetsAnythingBeforeTheOk() throws {
        _ = session.observe(Observation(.all))
        session.connected(at: 0)
        #expect(try session.receive(notification(1)) == nil)
        _ = try session.confirmObservers(among: session.takeAll())
        #expect(try session.receive(notification(2))?.receivers == [1])
    }

    @Test mutating func aRetainedOneIsForTheObserverThatItNames() throws {
        try observe(Observation(.name("N")), Observation(.name("N")))
        #expect(try session.receive(retained(5, for: "2"))?.receivers == [2])
        #expect(try session.receive(retained(5, for: "1"))?.receivers == [1])
        #expect(try session.receive(retained(6, for: "3")) == nil)
        #expect(try session.receive(retained(6, for: "02")) == nil)
        #expect(try session.receive(notification(7, more: #","retained":true"#)) == nil)
    }

    @Test mutating func aRetainedOneThatComesAgainIsDropped() throws {
        try observe(Observation(.name("N")))
        #expect(try session.receive(retained(3))?.receivers == [1])
        #expect(try session.receive(notification(7))?.receivers == [1])
        _ = session.end()
        try connect(to: "i1")
        #expect(try session.receive(retained(3)) == nil)
        #expect(try session.receive(retained(7)) == nil)
        #expect(try session.receive(retained(8))?.receivers == [1])
        _ = session.end()
        try connect(to: "i1")
        #expect(try session.receive(retained(8)) == nil)
    }

    @Test mutating func anotherInstanceBeginsAnew() throws {
        try observe(Observation(.name("N")))
        #expect(try session.receive(retained(3))?.receivers == [1])
        _ = session.end()
        try connect(to: "i2")
        #expect(try session.receive(retained(3))?.receivers == [1])
    }

    /// The connection broke before this one came, though newer ones had come.
    @Test mutating func aRetainedOneThatNeverCameIsTaken() throws {
        try observe(Observation(.all))
        #expect(try session.receive(retained(1, name: "A"))?.receivers == [1])
        #expect(try session.receive(notification(9, "Z"))?.receivers == [1])
        _ = session.end()
        try connect(to: "i1")
        #expect(try session.receive(retained(1, name: "A")) == nil)
        #expect(try session.receive(retained(2, name: "B"))?.receivers == [1])
        #expect(try session.receive(retained(9, name: "Z")) == nil)
    }

    /// Against a broker in a few lines: whatever breaks where, an observer of everything sees what is retained
    /// never twice and, in the end, all of it.
    @Test(arguments: 1...40)
    mutating func retainedOnesComeOnceOverManyConnections(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var store: [String: Int] = [:]
        var seq = 0
        var seen: [Int: Int] = [:]
        func note(_ event: ClientEvent?) {
            guard case .notification(let notification, _) = event else { return }
            seen[Int(notification.seq), default: 0] += 1
        }
        _ = session.observe(Observation(.all))
        for round in 0..<40 {
            try connect(to: "i1")
            var queue = store.sorted { $0.value < $1.value }
            if round == 39 {
                for (name, seq) in queue { note(try session.receive(retained(seq, name: name))) }
                break
            }
            for _ in 0..<Int.random(in: 0..<12, using: &generator) {
                if !queue.isEmpty && Bool.random(using: &generator) {
                    let (name, seq) = queue.removeFirst()
                    if store[name] == seq {
                        note(try session.receive(retained(seq, name: name)))
                    }
                } else {
                    seq += 1
                    let name = "\(Int.random(in: 0..<4, using: &generator))"
                    store[name] = seq
                    note(try session.receive(notification(seq, name)))
                }
            }
            _ = session.end()
            if Bool.random(using: &generator) {
                seq += 1
                store["\(Int.random(in: 0..<4, using: &generator))"] = seq
            }
        }
        #expect(seen.values.allSatisfy { $0 == 1 }, "seed \(seed)")
        #expect(store.values.allSatisfy { seen[$0] == 1 }, "seed \(seed)")
    }

    private func retained(_ seq: Int, name: String = "N", for observer: String = "1") -> String {
        notification(seq, name, more: #","retained":true,"observer":"\#(observer)""#)
    }
}
