import Synchronization
import Testing

@testable import DistributedNotifications

@Suite(.timeLimit(.minutes(5))) struct ChannelTests {
    private func items(_ taken: Channel<Int>.Taken) -> [String] {
        switch taken {
        case .entries(let entries):
            entries.map {
                switch $0 {
                case .item(let item): "\(item)"
                case .gap(let gap): "gap \(gap.count ?? 0)"
                }
            }
        case .nothing: []
        case .finished: ["end"]
        }
    }

    @Test("a channel that waits tells once that it is full, and once that there is room")
    func waiting() {
        let room = Atomic(0)
        let channel = Channel<Int>(
            limit: 4, overflow: .wait,
            hooks: .init(onRoom: { _ in room.add(1, ordering: .relaxed) }))
        #expect((0..<6).map { channel.push($0).becameFull } == [false, false, false, true, false, false])
        #expect(items(channel.take()) == ["0", "1", "2", "3", "4", "5"])
        #expect(room.load(ordering: .relaxed) == 1)
        #expect(items(channel.take()) == [])
        #expect(room.load(ordering: .relaxed) == 1)
    }

    @Test("beyond the excess a channel that waits drops, and says so")
    func excess() {
        let channel = Channel<Int>(limit: 1, overflow: .wait)
        for item in 0..<6 { _ = channel.push(item, bytes: 3 << 20) }
        #expect(items(channel.take()) == ["0", "1", "2"])
        #expect(items(channel.take()) == ["gap 3"])
        #expect(items(channel.take()) == [])
    }

    @Test("a channel that drops the newest counts exactly, in place")
    func droppingNewest() {
        let told = Atomic(0)
        let channel = Channel<Int>(
            limit: 2, overflow: .dropNewest,
            hooks: .init(onGap: { told.add(Int($0.count ?? 0), ordering: .relaxed) }))
        for item in 0..<5 { #expect(channel.push(item).gap == nil) }
        #expect(items(channel.take()) == ["0", "1"])
        #expect(channel.push(5).gap == Gap(count: 3, cause: .buffer))
        #expect(items(channel.take()) == ["gap 3", "5"])
        for item in 6..<9 { _ = channel.push(item) }
        #expect(items(channel.take()) == ["6", "7"])
        #expect(items(channel.take()) == ["gap 1"])
        #expect(told.load(ordering: .relaxed) == 1)
    }

    @Test("a channel that drops the oldest keeps the last")
    func droppingOldest() {
        let channel = Channel<Int>(limit: 3, overflow: .dropOldest)
        for item in 0..<1_000 { _ = channel.push(item) }
        #expect(items(channel.take()) == ["gap 997", "997", "998", "999"])
        #expect(items(channel.take()) == [])
    }

    @Test("gaps with nothing in between are one")
    func gaps() {
        let channel = Channel<Int>(limit: 3, overflow: .wait)
        _ = channel.push(Gap(count: 1, cause: .broker))
        _ = channel.push(Gap(count: 2, cause: .broker))
        _ = channel.push(Gap(count: nil, cause: .reconnection))
        _ = channel.push(1)
        #expect(items(channel.take()) == ["gap 3", "gap 0", "1"])
    }

    @Test("batches are of 64, in order")
    func batches() {
        let channel = Channel<Int>(limit: 1_000, overflow: .wait)
        for item in 0..<200 { _ = channel.push(item) }
        var all: [String] = []
        var sizes: [Int] = []
        while case .entries(let entries) = channel.take() {
            sizes.append(entries.count)
            all += items(.entries(entries))
        }
        #expect(sizes == [64, 64, 64, 8])
        #expect(all == (0..<200).map(String.init))
    }

    @Test("a consumer is woken by a push, by the end, and by its cancellation")
    func waking() async {
        let channel = Channel<Int>(limit: 4, overflow: .wait)
        _ = channel.take()
        async let woken: Void = channel.wait()
        channel.push(1).wake?()
        await woken
        #expect(items(channel.take()) == ["1"])

        let task = Task { await channel.wait() }
        task.cancel()
        await task.value

        async let ended: Void = channel.wait()
        channel.finish()?()
        await ended
        #expect(items(channel.take()) == ["end"])
        #expect(channel.push(1).foundIdle == false)
    }

    @Test("a publisher gives each subscriber all from its subscription on")
    func publisher() async {
        let publisher = Publisher<Int>()
        let early = publisher.subscribe(startingWith: 0)
        for wake in publisher.publish(1) { wake() }
        let late = publisher.subscribe()
        for wake in publisher.publish(2) { wake() }
        var seen: [Int] = []
        for await value in early {
            seen.append(value)
            if value == 2 { break }
        }
        #expect(seen == [0, 1, 2])
        for await value in late {
            #expect(value == 2)
            break
        }
        for wake in publisher.finish() { wake() }
        for await value in late { Issue.record("\(value) after the end") }
    }

    @Test("a stream ends when its task is cancelled")
    func cancellation() async {
        let publisher = Publisher<Int>()
        let stream = publisher.subscribe()
        let task = Task {
            var count = 0
            for await _ in stream { count += 1 }
            return count
        }
        for wake in publisher.publish(1) { wake() }
        task.cancel()
        #expect(await task.value <= 1)
        #expect(publisher.publish(2).isEmpty)
    }
}
