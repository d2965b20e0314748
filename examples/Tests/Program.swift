import DistributedNotifications
import Foundation
import Synchronization

/// A program of the examples as a process of its own. It is ended with its owner.
final class Program: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private struct State {
        var output = Data()
        var hasEnded = false
        var waiting: [UUID: CheckedContinuation<Void, Never>] = [:]

        var text: String { String(decoding: output, as: UTF8.self) }
    }

    private let name: String
    private let process = Process()
    private let input = Pipe()
    private let state = Mutex(State())

    /// Where the programs are: beside the test.
    private static let directory = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    init(_ name: String, _ arguments: [String] = [], socket: String) throws {
        self.name = name
        process.executableURL = Self.directory.appendingPathComponent(name)
        process.arguments = arguments
        process.environment = ["NOTIFICATION_BROKER_SOCKET": socket]
        process.standardInput = input
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        try output.fileHandleForWriting.close()
        Thread { [weak self] in
            while true {
                let data = output.fileHandleForReading.availableData
                if data.isEmpty { break }
                self?.change { $0.output += data }
            }
            self?.change { $0.hasEnded = true }
        }.start()
    }

    deinit {
        process.terminate()
    }

    private func change(_ body: (inout State) -> Void) {
        let waiting = state.withLock { state in
            body(&state)
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume() }
    }

    var text: String { state.withLock { $0.text } }

    func type(_ line: String) {
        input.fileHandleForWriting.write(Data((line + "\n").utf8))
    }

    func endInput() throws {
        try input.fileHandleForWriting.close()
    }

    /// Waits until it has shown the text, as often as said.
    func expect(_ wanted: String, times: Int = 1) async throws {
        try await wait(for: wanted) { $0.text.components(separatedBy: wanted).count > times }
    }

    func expectEnd() async throws {
        try await wait(for: "its end") { $0.hasEnded }
    }

    private func wait(for what: String, _ condition: (State) -> Bool) async throws {
        let timer = Task { [weak self] in
            try await Task.sleep(for: .seconds(60))
            self?.change { _ in }
        }
        defer { timer.cancel() }
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            let (isMet, hasEnded) = state.withLock { (condition($0), $0.hasEnded) }
            if isMet { return }
            if hasEnded || ContinuousClock.now >= deadline {
                throw Failure(description: "\(name) did not show '\(what)', but:\n\(text)")
            }
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if condition(state) || state.hasEnded { return true }
                    state.waiting[UUID()] = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        }
    }
}
