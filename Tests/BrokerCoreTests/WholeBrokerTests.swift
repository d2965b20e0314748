import TestSupport
import Testing
import WireProtocol

@testable import BrokerCore

/// A whole broker under random clients, beside a plain account of who should see what.
@Suite struct WholeBrokerTests {
    private struct Observing {
        var label: String
        var name: String?
        var match: String?
        var object: String?

        func matches(_ post: Posted) -> Bool {
            if let object, object != post.object { return false }
            if let name { return name == post.name }
            guard let match else { return true }
            return NamePattern(glob: match).map { glob in
                Array(post.name.utf8).withUnsafeBytes { glob.matches($0) }
            } ?? false
        }
    }

    private struct Posted {
        var name: String
        var object: String?
        var sender: Int
    }

    private final class Actor {
        let client: World.Client
        let overflow: String
        var observing: [Observing] = []
        var next = 0
        /// The seqs of its posts, in the order of the receipts.
        var seqs: [UInt64] = []
        var lastID = -1
        /// What came in since the observers changed.
        var stream: [Told] = []

        init(_ client: World.Client, _ overflow: String) {
            self.client = client
            self.overflow = overflow
        }
    }

    private struct Scene {
        let world: World
        var random: SeededGenerator
        var actors: [Actor] = []
        var posts: [Int: Posted] = [:]
        var bySeq: [UInt64: Posted] = [:]

        init(seed: UInt64) throws {
            random = SeededGenerator(seed: seed)
            world = World(queueBytes: random.pick([3000, 8000, 1 << 20])) {
                $0.patience = 3600 * World.second
            }
            world.readSize = random.pick([50, 700, 64 << 10])
            for _ in 0..<3 + random.below(4) {
                let client = try world.connect(reads: random.oneIn(3), room: 50 + random.below(4000))
                actors.append(Actor(client, random.pick(["wait", "wait", "drop", "coalesce"])))
            }
        }

        mutating func changeObservers() throws {
            for actor in actors {
                for observing in actor.observing {
                    try world.send(
                        actor.client, #"{"type":"removeObserver","observer":"\#(observing.label)"}"#)
                }
                actor.observing = (0..<random.below(4)).map { number in
                    let object = random.oneIn(3) ? random.pick(["", "o"]) : nil
                    switch random.below(4) {
                    case 0: return Observing(label: "\(number)", object: object)
                    case 1:
                        return Observing(
                            label: "\(number)", match: random.pick(["a*", "*b", "?.*"]), object: object)
                    default:
                        return Observing(
                            label: "\(number)", name: random.pick(["a.b", "a.c", "b"]), object: object)
                    }
                }
                for one in actor.observing {
                    let request = observe(
                        one.label, name: one.name, match: one.match, object: one.object,
                        overflow: actor.overflow)
                    try world.send(actor.client, request)
                }
            }
            try world.pass(1)
        }

        mutating func act() throws {
            let index = random.below(actors.count)
            let actor = actors[index]
            switch random.below(10) {
            case 0...5:
                for _ in 0...random.below(4) {
                    let id = posts.count
                    let made = Posted(
                        name: random.pick(["a.b", "a.c", "b", "x\(random.below(1000))"]),
                        object: random.pick([nil, nil, "", "o"]), sender: index)
                    posts[id] = made
                    let size = random.oneIn(20) ? 20_000 : random.below(600)
                    let text = post(made.name, id: id, object: made.object, bytes: size)
                    world.write(actor.client, framed(text.utf8))
                }
                if !random.oneIn(3) { try world.run() }
            case 6, 7: try world.take(actor.client, random.below(3000))
            case 8: try world.pass(Double(random.below(20)) / 1000)
            default:
                // Somebody comes, observes, waits, posts half a frame, and is gone.
                let passing = try world.connect(reads: random.oneIn(2), room: 300)
                try world.send(
                    passing, observe("p", overflow: random.pick(["drop", "coalesce"])),
                    #"{"type":"awaitObservers","id":1,"name":"b","count":99}"#)
                world.write(passing, Array(framed(post("b").utf8).prefix(20)))
                try world.run()
                if random.oneIn(2) { try world.finish(passing) } else { try world.vanish(passing) }
            }
        }

        /// Everybody reads everything; then nobody does again.
        mutating func comeToRest() throws {
            let readers = actors.filter { !$0.client.reads }
            for actor in readers { actor.client.reads = true }
            for _ in 0..<20 { try world.pass(0.1) }
            for actor in readers { actor.client.reads = false }
            for actor in actors {
                for told in try world.told(actor.client) {
                    guard case .other(let text) = told else {
                        actor.stream.append(told)
                        continue
                    }
                    let receipt = try JSONValue(parsing: text.utf8)
                    guard receipt.type == "ok", let id = receipt["id"]?.int, let seq = receipt["seq"]?.int
                    else {
                        throw TestFailure("unexpected: \(text)")
                    }
                    // A sender's posts are numbered in its own order.
                    #expect(id > actor.lastID && UInt64(seq) > actor.seqs.last ?? 0)
                    actor.lastID = id
                    actor.seqs.append(UInt64(seq))
                    bySeq[UInt64(seq)] = posts[id]
                }
            }
        }

        /// Each stream is what its connection observes, in order, each seq once, or told by exactly one gap.
        mutating func check(since first: UInt64, _ place: Comment) throws {
            #expect(bySeq.count == posts.count, place)
            let last = world.broker.encoder.seq
            for actor in actors {
                let wanted =
                    first > last
                    ? []
                    : (first...last).filter { seq in
                        bySeq[seq].map { posted in actor.observing.contains { $0.matches(posted) } } ?? false
                    }
                var index = 0
                for told in actor.stream {
                    switch told {
                    case .notification(let seq):
                        let next = index < wanted.count ? wanted[index] : 0
                        try #require(seq == next, place)
                        index += 1
                    case .gap(let count, let lowest, let highest):
                        #expect(actor.overflow != "wait", place)
                        try #require(index + Int(count) <= wanted.count && count > 0, place)
                        #expect(wanted[index] == lowest && wanted[index + Int(count) - 1] == highest, place)
                        index += Int(count)
                    case .retained, .other: Issue.record(place)
                    }
                }
                #expect(index == wanted.count, "\(place) \(actor.overflow) \(index) of \(wanted.count)")
                actor.stream = []
                #expect(world.pending(actor.client) == 0 && !world.isPaused(actor.client), place)
            }
        }
    }

    @Test(arguments: 1...25)
    func everyStreamIsWhole(seed: UInt64) throws {
        var scene = try Scene(seed: seed)
        for phase in 0..<3 {
            let first = scene.world.broker.encoder.seq + 1
            try scene.changeObservers()
            for _ in 0..<40 { try scene.act() }
            try scene.comeToRest()
            try scene.check(since: first, "seed \(seed) phase \(phase)")
        }
        // Those who passed have had their time to take what was queued.
        try scene.world.pass(3601)
        let statistics = scene.world.broker.delivery.statistics
        #expect(statistics.posted == UInt64(scene.posts.count))
        #expect(scene.world.broker.connectionCount == scene.actors.count)
        #expect(scene.world.broker.delivery.queuedBytes == 0)
        #expect(scene.world.broker.delivery.backlogged == 0)
    }

    /// Nothing that a client sends can do more than end its connection.
    @Test(arguments: 1...15)
    func wildBytes(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let world = World { $0.limits.frameBytes = 5000 }
        let witness = try world.connect()
        let frames = [
            post("a", id: 1, object: "o", bytes: 20, retain: "true"),
            observe("1", match: "a*?", overflow: "coalesce", id: 2),
            observe("2", name: "a"), #"{"type":"removeObserver","observer":"1"}"#,
            #"{"type":"status","id":3,"detail":true}"#,
            #"{"type":"awaitObservers","id":4,"name":"a","count":2}"#, #"{"type":"ping","id":5}"#,
            #"{"type":"hello","protocol":1,"client":"c","features":["f"]}"#,
        ]
        var wild = try world.connect()
        for _ in 0..<150 {
            if wild.isClosed {
                wild = try world.connect(uid: random.pick([0, 500, 600]), reads: random.oneIn(2))
            }
            var bytes = Array(random.pick(frames).utf8)
            for _ in 0..<random.below(4) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
            if random.oneIn(5) { bytes = Array(bytes.prefix(random.below(bytes.count))) }
            bytes = framed(bytes)
            if random.oneIn(15) { bytes[random.below(4)] = UInt8(random.below(256)) }
            world.write(wild, bytes)
            try world.run()
            if random.oneIn(20) { try world.pass(11) }
            if random.oneIn(20) { try world.vanish(wild) }
        }
        try world.send(witness, #"{"type":"ping","id":9}"#)
        #expect(try world.news(witness).last?["id"]?.int == 9, "seed \(seed)")
    }
}
