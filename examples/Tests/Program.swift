import DistributedNotifications
import Foundation
import Synchronization

/// A program of the examples as a process of its own. It is ended as soon as its owner lets go of it, and whatever became of it,
/// it holds nothing of this process open: what it writes, errors too, is read here.
final class Program: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static let patience = Duration.seconds(60)

    private let name: String
    private let process = Process()
    private let input = Pipe()
    private let output = Output()

    /// Where the programs are: beside the test.
    private static let directory = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    init(_ name: String, _ arguments: [String] = [], socket: String) throws {
        self.name = name
        process.executableURL = Self.directory.appendingPathComponent(name)
        process.arguments = arguments
        process.environment = ["NOTIFICATION_BROKER_SOCKET": socket]
        process.standardInput = input
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        try pipe.fileHandleForWriting.close()
        output.read(pipe.fileHandleForReading)
    }

    deinit {
        // It may never have started.
        if process.isRunning { process.terminate() }
    }

    var text: String { output.text }

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

    private func wait(for what: String, _ condition: (Output.State) -> Bool) async throws {
        guard await output.reaches(condition, within: Self.patience) else {
            throw Failure(description: "\(name) did not show '\(what)', but:\n\(text)")
        }
    }
}

/// What a program has written. Its reader holds this alone, never the program, whose end is its owner's to say.
private final class Output: Sendable {
    struct State {
        var bytes = Data()
        var hasEnded = false
        var waiting: [CheckedContinuation<Void, Never>] = []

        var text: String { String(decoding: bytes, as: UTF8.self) }

        /// Whether the condition is met; nil while it still may be in time.
        func answer(to condition: (State) -> Bool, by deadline: ContinuousClock.Instant) -> Bool? {
            if condition(self) { return true }
            return hasEnded || ContinuousClock.now >= deadline ? false : nil
        }
    }

    private let state = Mutex(State())

    var text: String { state.withLock { $0.text } }

    func read(_ handle: FileHandle) {
        Thread { [self] in
            while true {
                let data = handle.availableData
                if data.isEmpty { break }
                change { $0.bytes += data }
            }
            change { $0.hasEnded = true }
        }.start()
    }

    /// Waits for the condition; false if it can't come true any more, or not in time.
    func reaches(_ condition: (State) -> Bool, within limit: Duration) async -> Bool {
        let deadline = ContinuousClock.now + limit
        let timer = Task {
            try await Task.sleep(until: deadline, clock: .continuous)
            change { _ in }
        }
        defer { timer.cancel() }
        while true {
            if let answer = state.withLock({ $0.answer(to: condition, by: deadline) }) { return answer }
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.answer(to: condition, by: deadline) == nil else { return false }
                    state.waiting.append(continuation)
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let waiting = state.withLock { state in
            body(&state)
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
