import TestSupport
import Testing

@testable import ClientCore

@Suite struct PendingRequestsTests {
    /// Behaves as a dictionary from numbers, in whatever order answers come.
    @Test(arguments: 1...20)
    func likeADictionary(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var pending = PendingRequests()
        var model: [UInt64: Bool] = [:]
        var last: UInt64 = 0
        for _ in 0..<5000 {
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<45:
                last += 1
                let awaits = Int.random(in: 0..<4, using: &generator) == 0
                #expect(pending.add(awaits ? .await : .post).number == last)
                model[last] = awaits
            case 45..<75:
                guard let first = model.keys.min() else { continue }
                check(&pending, &model, first)
            case 75..<99:
                check(&pending, &model, UInt64.random(in: 0...last + 2, using: &generator))
            default:
                let kept = Set(model.filter { !$0.value }.keys.shuffled(using: &generator).prefix(2))
                let removed = pending.removeAll(but: Set(kept.map(RequestID.init(number:))))
                #expect(
                    removed.map(\.id.number) == model.keys.filter { !kept.contains($0) }.sorted(),
                    "seed \(seed)")
                model = model.filter { kept.contains($0.key) }
            }
            #expect(pending.isEmpty == model.isEmpty, "seed \(seed)")
        }
    }

    private func check(_ pending: inout PendingRequests, _ model: inout [UInt64: Bool], _ number: UInt64) {
        let kind = pending.remove(RequestID(number: number))
        switch (model.removeValue(forKey: number), kind) {
        case (nil, nil), (true?, .await), (false?, .post): break
        default: Issue.record("\(number) is \(kind as Any)")
        }
    }
}
