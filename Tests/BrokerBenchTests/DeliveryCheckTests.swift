import Testing
import WireProtocol

@testable import broker_bench

/// A receiver is given notifications in every wrong way.
@Suite struct DeliveryCheckTests {
    private struct Reception {
        var check: DeliveryCheck
        var templates: [FrameTemplate?]
        var taken = 0

        init(_ plan: Plan, receiver: Int = 0) {
            check = DeliveryCheck(plan, receiver: receiver)
            templates = [FrameTemplate?](repeating: nil, count: plan.figures.senders)
        }

        mutating func get(_ text: String) throws {
            try Array(text.utf8).withUnsafeBytes { text in
                if check.take(text, templates) {
                    taken += 1
                    return
                }
                guard case .notification(let notification) = try BrokerMessageDecoder().decode(text) else {
                    return
                }
                if let (sender, template) = check.examine(notification, text) { templates[sender] = template }
            }
        }
    }

    private static func plan(names: Int = 1, receivers: Int = 1) -> Plan {
        Plan(
            workload: .throughput, figures: Plan.Figures(senders: 2, receivers: receivers, names: names),
            count: 20,
            subject: "b.1")
    }

    private let plan = DeliveryCheckTests.plan()

    private func text(
        _ seq: Int, _ number: Int, sender: Int = 0, time: Int = 1_700_000_000_000_000, plan: Plan? = nil
    ) -> String {
        let plan = plan ?? self.plan
        var userInfo = UserInfo.bytes(size: plan.figures.size)
        let digits = String(10_000_000_000_000_000 + sender * 1_000_000_000_000 + number).dropFirst()
        userInfo.replaceSubrange(UserInfo.stampOffset..<(UserInfo.stampOffset + 16), with: digits.utf8)
        return
            #"{"type":"notification","seq":\#(seq),"time":\#(time),"sender":{"connection":\#(sender + 4),"pid":1,"#
            + #""uid":0,"gid":0},"name":"\#(plan.name(sender: sender, number: number))","userInfo":"#
            + String(decoding: userInfo, as: UTF8.self) + "}"
    }

    private func faults(_ texts: [String]) throws -> Faults {
        var reception = Reception(plan)
        for text in texts { try reception.get(text) }
        reception.check.finish()
        return reception.check.faults
    }

    private var good: [String] { (0..<20).map { text($0 + 1, $0 / 2, sender: $0 % 2) } }

    @Test func whatIsRightIsTakenInPlace() throws {
        var reception = Reception(plan)
        for text in good { try reception.get(text) }
        reception.check.finish()
        #expect(reception.check.faults == Faults())
        #expect(reception.check.delivered == 20)
        #expect(reception.taken == 18, "one of each sender is decoded")
    }

    @Test func ofSeveralNamesOnlyItsOwn() throws {
        let plan = Self.plan(names: 5, receivers: 2)
        var reception = Reception(plan, receiver: 1)
        for (seq, number) in [1, 3, 6, 8].enumerated() {
            for sender in 0..<2 {
                try reception.get(text(seq * 2 + sender + 1, number, sender: sender, plan: plan))
            }
        }
        reception.check.finish()
        #expect(reception.check.faults == Faults())
        #expect(reception.taken == 6)
        try reception.get(text(99, 0, plan: plan))
        #expect(reception.check.faults.doubled == 1)
    }

    @Test func whatIsMissingIsCounted() throws {
        var texts = good
        texts.removeSubrange(8..<12)
        #expect(try faults(texts).missing == 4)
        #expect(try faults(Array(good.dropLast(3))).missing == 3)
    }

    @Test func whatComesTwiceIsCounted() throws {
        let faults = try faults(
            good[..<10] + [text(11, 4)] + (10..<20).map { text($0 + 2, $0 / 2, sender: $0 % 2) })
        #expect(faults.doubled == 1 && faults.missing == 0)
    }

    @Test func anotherOrderIsSeen() throws {
        var texts = good
        texts.swapAt(6, 8)
        #expect(try faults(texts).disordered > 0)
        #expect(try faults(texts).missing == 0)
        // In each sender's order, but not in that of seq.
        texts = good
        texts.swapAt(6, 7)
        #expect(try faults(texts).disordered > 0)
    }

    @Test func timeDoesNotFall() throws {
        var texts = good
        texts[9] = text(10, 4, sender: 1, time: 1_600_000_000_000_000)
        #expect(try faults(texts).disordered == 1)
    }

    @Test(arguments: [("xyz", "xyZ"), ("b.1", "b.2"), ("\"uid\":0", "\"uid\":1")])
    func whatWasNotPostedIsSeen(part: (String, String)) throws {
        var texts = good
        texts[9] = String(texts[9].split(separator: part.0, maxSplits: 1).joined(separator: part.1))
        let found = try faults(texts)
        // The sender's identity is the kernel's word: another one is looked at closely, and found to say the same.
        #expect(found.damaged == (part.0 == "\"uid\":0" ? 0 : 1))
    }

    @Test func theOrderOfAllIsInTheNumber() throws {
        var (one, other) = (Reception(plan), Reception(plan))
        for index in 0..<4 {
            try one.get(text(index + 1, index / 2, sender: index % 2))
            try other.get(text(index + 1, index / 2, sender: (index + 1) % 2))
        }
        #expect(one.check.faults == Faults() && other.check.faults == Faults())
        #expect(one.check.order != other.check.order)
    }
}
