import TestSupport
import Testing

@testable import broker_bench

@Suite struct PostTests {
    @Test func digitsReadBackWhatTheyWrite() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let number = Int.random(in: 0..<Digits.bound, using: &generator)
            let text = Digits.text(number)
            #expect(Digits.number(loaded: text.byteSwapped) == number, "seed \(seed)")
            #expect(
                withUnsafeBytes(of: text.bigEndian) { String(decoding: $0, as: UTF8.self) }.hasSuffix(
                    String(number)))
            let place = UInt64.random(in: 0..<8, using: &generator) * 8
            let byte = UInt64.random(in: 0...255, using: &generator)
            let broken = text & ~(0xFF << place) | byte << place
            let isNumber = (0x30...0x39).contains(byte)
            #expect((Digits.number(loaded: broken.byteSwapped) != nil) == isNumber, "seed \(seed)")
        }
    }

    @Test func aShareIsWhatItsNamesSay() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let receivers = Int.random(in: 1...7, using: &generator)
            let names = Int.random(in: receivers...30, using: &generator)
            let first = Int.random(in: 0..<receivers, using: &generator)
            let share = Share(names: names, step: receivers, first: first)
            let wanted = (0..<100).filter { $0 % names % receivers == first }
            var found: [Int] = []
            var next = first
            while next < 100 {
                found.append(next)
                next = share.next(after: next)
            }
            #expect(found == wanted, "seed \(seed)")
            #expect(share.count(from: first, below: 100) == wanted.count)
        }
    }

    private func frames(_ batch: PostBatch, taking piece: Int) throws -> [JSONValue] {
        var bytes: [UInt8] = []
        while !batch.rest.isEmpty {
            let part = Array(batch.rest.prefix(piece))
            bytes += part
            _ = batch.advance(by: part.count)
        }
        var frames: [JSONValue] = []
        while bytes.count >= 4 {
            let count = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            frames.append(try JSONValue(parsing: bytes[4..<(4 + count)]))
            bytes.removeFirst(4 + count)
        }
        #expect(bytes.isEmpty)
        return frames
    }

    @Test(arguments: [27, 64, 5_000]) func aBatchHoldsEachPostOnce(size: Int) throws {
        var plan = Plan(
            workload: .throughput, figures: Plan.Figures(size: size, names: 7), count: 123, subject: "b.1")
        plan.asksForAnswers = true
        let frames = try frames(PostBatch(plan, sender: 3, total: 123), taking: 1_000)
        #expect(frames.count == 123)
        for (number, frame) in frames.enumerated() {
            #expect(frame["type"] == .string("post"))
            #expect(frame["id"]?.int == 1_000_000_000_000 + number)
            #expect(frame["name"]?.text == "b.1.0000000\(number % 7)")
            let data = try #require(frame["userInfo"]?["data"]?.text)
            #expect(data.utf8.count == size - 11)
            #expect(Int(data.prefix(4)) == 3 && Int(data.dropFirst(4).prefix(12)) == number)
        }
    }

    @Test func aFreshNameEndsInTheStamp() throws {
        var plan = Plan(workload: .observers, figures: Plan.Figures(), count: 25, subject: "b.1")
        plan.usesFreshNames = true
        let frames = try frames(PostBatch(plan, sender: 12, total: 25), taking: .max)
        #expect(frames.map { $0["name"]?.text } == (0..<25).map { plan.name(sender: 12, number: $0) })
        #expect(frames.last?["name"]?.text == "b.1.0012000000000024")
    }
}
