import ClientCore
import Testing
import WireProtocol

@testable import DistributedNotifications

@Suite struct HeldQueueTests {
    private func notification(_ seq: Int, _ name: String, object: String? = nil) throws
        -> ReceivedNotification
    {
        let object = object.map { #","object":"\#($0)""# } ?? ""
        let json = #"{"type":"notification","seq":\#(seq),"time":0,"name":"\#(name)"\#(object)}"#
        let message = try Array(json.utf8).withUnsafeBytes { (bytes) throws(BrokerMessageError) in
            try BrokerMessageDecoder().decode(bytes)
        }
        guard case .notification(let notification) = message else { throw CancellationError() }
        return notification
    }

    private let one = ObserverID(number: 1)
    private let two = ObserverID(number: 2)

    private func described(_ held: (entries: [HeldQueue.Entry], missed: [ObserverID: UInt64])) -> [String] {
        held.entries.map { "\($0.observer.number):\($0.notification.seq)" }
    }

    @Test("of observers that coalesce the last of each name and object is held, in the order of those")
    func coalescing() throws {
        var queue = HeldQueue()
        for (seq, name, object) in [
            (1, "a", nil), (2, "b", nil), (3, "a", "x"), (4, "a", nil), (5, "a", "x"), (6, "b", ""),
        ] as [(Int, String, String?)] {
            queue.coalesce(try notification(seq, name, object: object), for: one)
        }
        #expect(described(queue.takeAll()) == ["1:2", "1:4", "1:5", "1:6"])
        #expect(described(queue.takeAll()) == [])
    }

    @Test("what several observers hold comes in the order in which it came")
    func order() throws {
        var queue = HeldQueue()
        for seq in 1...3 {
            queue.hold(try notification(seq, "a"), for: one)
            queue.coalesce(try notification(seq, "a"), for: two)
        }
        #expect(described(queue.takeAll()) == ["1:1", "1:2", "1:3", "2:3"])
    }

    @Test("over the limit the oldest of that observer go, and are counted")
    func limit() throws {
        var queue = HeldQueue()
        queue.hold(try notification(1, "other"), for: two)
        for seq in 2..<(HeldQueue.limit + 7) { queue.hold(try notification(seq, "a"), for: one) }
        let held = queue.takeAll()
        #expect(held.missed == [one: 5])
        #expect(held.entries.count == HeldQueue.limit + 1)
        #expect(described(held).prefix(2) == ["2:1", "1:7"])
    }

    @Test("a flood of few names needs room for few")
    func flood() throws {
        var queue = HeldQueue()
        for seq in 1...10_000 { queue.coalesce(try notification(seq, "n\(seq % 3)"), for: one) }
        #expect(described(queue.takeAll()) == ["1:9998", "1:9999", "1:10000"])
    }

    @Test("an observer that is gone holds nothing")
    func forgetting() throws {
        var queue = HeldQueue()
        queue.hold(try notification(1, "a"), for: one)
        queue.coalesce(try notification(1, "a"), for: two)
        queue.forget(two)
        queue.coalesce(try notification(2, "a"), for: one)
        #expect(described(queue.takeAll()) == ["1:1", "1:2"])
    }
}
