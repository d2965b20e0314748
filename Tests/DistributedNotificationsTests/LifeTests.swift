import ClientCore
import DistributedNotificationsTesting
import Endpoint
import Foundation
import Glibc
import Testing
import UnixIO

@testable import DistributedNotifications

@Suite(.timeLimit(.minutes(5))) struct LifeTests {
    struct Tick: DistributedMessage, Equatable {
        static let name = Notification.Name("Tick")
        var poster: Int
        var number: Int
    }

    static let patience = Duration.seconds(60)

    private func impatientCenter(_ broker: TestBroker) -> DistributedNotificationCenter {
        DistributedNotificationCenter(
            place: SocketPath(Path(broker.socketPath), .given),
            bounds: .init(
                patience: 300_000_000, shortPatience: 200_000_000, postLife: 200_000_000, outboxBytes: 1 << 20
            ))
    }

    @Test("a broker that is absent at the start is no crash and no silence")
    func absent() async throws {
        try await withTestBroker { _, broker in
            await broker.kill()
            let center = broker.makeCenter()
            let events = center.events
            let stream = center.messages(of: Tick.self)
            center.post(Tick(poster: 0, number: 1))
            guard case .disconnected(let error) = try await events.next(within: Self.patience) else {
                Issue.record("not disconnected")
                return
            }
            #expect(error.code == .notConnected)
            guard case .retrying(1, _) = try await events.next(within: Self.patience) else {
                Issue.record("not retrying")
                return
            }
            try await broker.start()
            // Said before its post: the observer is first on each connection.
            #expect(try await stream.next(within: Self.patience) == Tick(poster: 0, number: 1))
            let late = center.events
            guard case .connected(let instance) = try await late.next(within: Self.patience) else {
                Issue.record("not connected")
                return
            }
            #expect(!instance.isEmpty)
        }
    }

    @Test("posters and observers come back by themselves, the gap is told, nothing comes twice")
    func restarts() async throws {
        try await withTestBroker { _, broker in
            try await restarts(at: broker.socketPath) {
                await broker.kill()
                try await broker.start()
            }
        }
    }

    @Test("the same with kill -9 of a broker's process")
    func restartsOfAProcess() async throws {
        try await withTestBroker { _, broker in
            await broker.kill()
            let process = Locked([try BrokerProcess(socketPath: broker.socketPath)])
            try await restarts(at: broker.socketPath) {
                process.withLock { $0.popLast() }?.kill()
                let next = try BrokerProcess(socketPath: broker.socketPath)
                process.withLock { $0.append(next) }
            }
        }
    }

    private func restarts(at path: String, restart: () async throws -> Void) async throws {
        do {
            let first = DistributedNotificationCenter(socketPath: path)
            let second = DistributedNotificationCenter(socketPath: path)
            let observers = [first, second]
            let posters = [
                DistributedNotificationCenter(socketPath: path),
                DistributedNotificationCenter(socketPath: path),
            ]
            var streams: [Notifications<Delivery<Tick>>] = []
            for observer in observers {
                streams.append(try await observer.messages(of: Tick.self).confirmed().deliveries)
            }
            let isOver = Flag()
            async let posting: Void = withTaskGroup { group in
                for (index, poster) in posters.enumerated() {
                    group.addTask {
                        var number = 0
                        while !isOver.isSet {
                            for _ in 0..<50 {
                                poster.post(Tick(poster: index, number: number))
                                number += 1
                            }
                            // Until the broker has read these, or has gone.
                            try? await poster.flush()
                        }
                    }
                }
            }
            async let results = withTaskGroup(of: [Int].self) { group in
                for stream in streams {
                    group.addTask {
                        // Per poster the last number; of gaps how many.
                        var last = [-1, -1]
                        var gaps = 0
                        var seen = 0
                        for await delivery in stream {
                            switch delivery {
                            case .element(let tick):
                                if tick.number <= last[tick.poster] { return [-1] }
                                last[tick.poster] = tick.number
                                if gaps == 2 { seen += 1 }
                            case .gap(let gap): if gap.cause == .reconnection { gaps += 1 }
                            case .undecodable: return [-2]
                            }
                            if seen > 200 { break }
                        }
                        return [gaps, seen]
                    }
                }
                var all: [[Int]] = []
                for await result in group { all.append(result) }
                return all
            }
            for _ in 0..<2 {
                try await first.flush()
                try await restart()
                _ = try? await first.messages(of: Tick.self).confirmed()
                _ = try? await second.messages(of: Tick.self).confirmed()
            }
            #expect(await results == [[2, 201], [2, 201]])
            isOver.set()
            await posting
        }
    }

    @Test("a send whose answer is cut off has an unknown outcome")
    func outcomeUnknown() async throws {
        try await withTestBroker { center, broker in
            try await center.flush()
            broker.stall()
            async let sent = failure { try await center.send(Tick(poster: 0, number: 0)) }
            async let flushed = failure { try await center.flush() }
            try await center.waitUntil { $0.asked.count == 2 && $0.session.unsentCount == 0 }
            await broker.kill()
            #expect(await sent?.code == .outcomeUnknown)
            #expect(await flushed?.code == .outcomeUnknown)
        }
    }

    @Test("posts that find no broker in time are told, and sends throw")
    func expiry() async throws {
        try await withTestBroker { _, broker in
            await broker.kill()
            let center = impatientCenter(broker)
            let events = center.events
            center.post(Tick(poster: 0, number: 0))
            #expect(
                await failure { try await center.send(Tick(poster: 0, number: 1)) }?.code == .notConnected)
            while true {
                guard case .postFailed(let name, let error) = try await events.next(within: Self.patience)
                else {
                    continue
                }
                #expect(name == Tick.name)
                #expect(error.code == .notConnected)
                break
            }
        }
    }

    @Test("with a full outbox a post waits outside tasks, and not inside")
    func outbox() async throws {
        try await withTestBroker { _, broker in
            let center = DistributedNotificationCenter(
                place: SocketPath(Path(broker.socketPath), .given), bounds: .init(outboxBytes: 1 << 20))
            try await center.flush()
            broker.stall()
            let data = Data(count: 30_000)
            let name = Notification.Name("large")
            let events = center.events
            while center.engine.withState({ state, _ in state.hasRoom }) {
                center.post(name: name, userInfo: ["data": data])
            }
            let began = ContinuousClock.now
            center.post(name: name, userInfo: ["data": data])
            #expect(ContinuousClock.now - began < .seconds(2))
            while true {
                guard case .postFailed(_, let error) = try await events.next(within: Self.patience) else {
                    continue
                }
                #expect(error.code == .outboxFull)
                break
            }
            async let posted: Void = onThread { center.post(name: Notification.Name("last"), object: nil) }
            try await center.waitUntil { !$0.roomWaiters.isEmpty }
            let last = broker.makeCenter().notifications(named: Notification.Name("last"))
            broker.resume()
            await posted
            _ = try? await last.next(within: .seconds(1))
            try await center.flush()
        }
    }

    @Test("outside tasks a wait for room ends")
    func roomPatience() async throws {
        try await withTestBroker { _, broker in
            let center = impatientCenter(broker)
            let events = center.events
            try await center.flush()
            broker.stall()
            await onThread {
                for _ in 0..<24 {
                    center.post(name: Notification.Name("x"), userInfo: ["data": Data(count: 60_000)])
                }
            }
            while true {
                guard case .postFailed(_, let error) = try await events.next(within: Self.patience) else {
                    continue
                }
                #expect(error.code == .outboxFull)
                break
            }
        }
    }

    @Test("closing ends streams and requests, and delivers what was posted")
    func closing() async throws {
        try await withTestBroker { center, broker in
            let other = broker.makeCenter()
            let stream = try await center.messages(of: Tick.self).confirmed()
            let ending = other.messages(of: Tick.self)
            async let waiting = failure { try await other.waitForObservers(of: Notification.Name("nobody")) }
            try await other.waitUntil { $0.asked.count == 1 || $0.requests.count == 1 }
            for number in 0..<1_000 { other.post(Tick(poster: 0, number: number)) }
            await other.close()
            for number in 0..<1_000 { #expect(try await stream.next(within: Self.patience).number == number) }
            for await _ in ending { Issue.record("after the end") }
            #expect(await waiting?.code == .cancelled)
            await #expect(throws: DistributedNotificationError.self) { try await other.send(name: Tick.name) }
            await other.close()
        }
    }

    @Test("a center that is let go still delivers what was posted")
    func letGo() async throws {
        try await withTestBroker { center, broker in
            let stream = try await center.messages(of: Tick.self).confirmed()
            for number in 0..<10 { broker.makeCenter().post(Tick(poster: 0, number: number)) }
            var came: Set<Int> = []
            while came.count < 10 { came.insert(try await stream.next(within: Self.patience).number) }
        }
    }

    @Test("waiting and confirming can be cancelled")
    func cancelling() async throws {
        try await withTestBroker { _, broker in
            await broker.kill()
            let center = broker.makeCenter()
            let tasks: [Task<DistributedNotificationError?, Never>] = [
                Task { await failure { try await center.waitForObservers(of: Tick.name) } },
                Task { await failure { try await center.messages(of: Tick.self).confirmed() } },
                Task { await failure { try await center.flush() } },
                Task { await failure { try await center.send(Tick(poster: 0, number: 0)) } },
            ]
            for task in tasks { task.cancel() }
            for task in tasks { #expect(await task.value?.code == .cancelled) }
        }
    }
}

/// What something throws.
func failure<Value>(_ body: () async throws -> Value) async -> DistributedNotificationError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? DistributedNotificationError
    }
}

/// `notification-broker` as a process. It is killed with its owner.
final class BrokerProcess: Sendable {
    private let process = Process()

    init(socketPath: String) throws {
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("notification-broker")
        process.arguments = ["--socket", socketPath, "--quiet"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    func kill() {
        _ = Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    deinit {
        if process.isRunning { kill() }
    }
}
