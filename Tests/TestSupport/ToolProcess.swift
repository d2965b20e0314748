package import UnixIO

/// A program that a test started. Killed when nobody holds it any more.
package final class ToolProcess {
    package enum Input {
        case none
        case bytes([UInt8])
        /// A pipe that the test writes to, see `write` and `closeInput`.
        case open
        case terminal(Terminal)
    }

    package enum Output {
        /// Read by the stage.
        case collected
        /// A descriptor of the test's, which stays its own.
        case descriptor(Int32)
    }

    package let name: String
    package let output: ByteStream?
    package let errors: ByteStream
    private unowned let stage: Stage
    private let child: ChildProcess
    private let end: Descriptor
    private var ended: ChildProcess.End?
    private var input: Descriptor?

    package var pid: Int32 { child.pid }

    fileprivate init(
        _ name: String, _ arguments: [[UInt8]], on stage: Stage, environment: [String: String], input: Input,
        output: Output
    ) throws {
        self.name = name
        self.stage = stage
        let errorPipe = try Pipe()
        let outputPipe = try Pipe()
        let inputPipe = try Pipe()
        let file: Descriptor
        switch input {
        case .bytes(let bytes): file = try Descriptor.memoryFile(holding: bytes)
        case .none, .open, .terminal: file = try FileSystem.openForReading("/dev/null")
        }
        let source =
            switch input {
            case .none, .bytes: file.number
            case .open: inputPipe.reading.number
            case .terminal(let terminal): terminal.tool.number
            }
        let target =
            switch output {
            case .collected: outputPipe.writing.number
            case .descriptor(let number): number
            }
        let program = name.contains("/") ? Path(name) : Executables.directory.appending(name)
        child = try ChildProcess(
            program: program, arguments: [Array(name.utf8)] + arguments,
            environment: environment.map { Array("\($0.key)=\($0.value)".utf8) },
            // Numbers far above the three, so that no move overwrites what a later one takes.
            descriptors: [(source, 0), (target, 1), (errorPipe.writing.number, 2)])
        end = try child.endDescriptor()
        errors = stage.read(Descriptor(adopting: duplicate(errorPipe.reading.number)))
        if case .collected = output {
            self.output = stage.read(Descriptor(adopting: duplicate(outputPipe.reading.number)))
        } else {
            self.output = nil
        }
        if case .open = input {
            self.input = Descriptor(adopting: duplicate(inputPipe.writing.number))
        }
    }

    deinit {
        guard ended == nil else { return }
        try? child.send(.kill)
        _ = try? child.wait()
    }

    var watchesItsEnd: Bool { ended == nil }
    var endNumber: Int32 { end.number }

    func lookForItsEnd() throws {
        if ended == nil { ended = try child.endIfEnded() }
    }

    package var isRunning: Bool {
        get throws {
            try lookForItsEnd()
            return ended == nil
        }
    }

    /// What a shell would call its status.
    package func status(within seconds: Double = Stage.patience) throws -> Int32 {
        let end = try stage.wait(for: "the end of \(name)", within: seconds) {
            try lookForItsEnd()
            return ended
        }
        // What it wrote last is still in the pipes; a grandchild may hold them open beyond its end.
        _ = try? stage.wait(for: "the end of its output", within: 1) {
            errors.hasEnded && output?.hasEnded ?? true ? true : nil
        }
        return switch end {
        case .exited(let status): status
        case .signaled(let signal): 128 + signal.rawValue
        }
    }

    package func send(_ signal: Signal) throws { try child.send(signal) }

    /// The next line of its standard output.
    package func line(within seconds: Double = Stage.patience, end: UInt8 = UInt8(ascii: "\n")) throws
        -> String
    {
        guard let output else { throw TestFailure("the output of \(name) is not collected") }
        return try stage.wait(for: "a line of \(name)", within: seconds) {
            if let line = output.take(upTo: end) { return String(decoding: line, as: UTF8.self) }
            if output.hasEnded { throw TestFailure("the output of \(name) ended\n\(summary)") }
            return nil
        }
    }

    /// The next line of its standard error that holds that text.
    @discardableResult
    package func errorLine(_ text: String, within seconds: Double = Stage.patience) throws -> String {
        try stage.wait(for: "'\(text)' from \(name)", within: seconds) {
            while let line = errors.take(upTo: UInt8(ascii: "\n")) {
                let line = String(decoding: line, as: UTF8.self)
                if line.contains(text) { return line }
            }
            if errors.hasEnded { throw TestFailure("no '\(text)' from \(name)\n\(summary)") }
            return nil
        }
    }

    package func write(_ text: String) throws {
        guard let number = input?.number else { throw TestFailure("the input of \(name) is closed") }
        let deadline = MonotonicClock.deadline(inSeconds: Stage.patience)
        let outcome = Array(text.utf8).withUnsafeBytes {
            Streams.writeAll($0, to: number, deadline: deadline)
        }
        guard outcome == .done else { throw TestFailure("\(name) does not read: \(outcome)") }
    }

    package func closeInput() { input = nil }

    package var outputText: String { String(decoding: output?.bytes ?? [], as: UTF8.self) }
    package var errorText: String { String(decoding: errors.bytes, as: UTF8.self) }
    package var errorLines: [String] { errorText.split(separator: "\n").map(String.init) }

    var summary: String {
        let state = ended.map { "\($0)" } ?? "runs"
        return "- \(name) \(pid) \(state); out: \(outputText.suffix(300).debugDescription); "
            + "err: \(errorText.suffix(600).debugDescription)"
    }
}

extension Stage {
    /// Starts a tool of the package, or any program by its whole path.
    package func start(
        _ name: String, _ arguments: String..., environment: [String: String]? = nil,
        input: ToolProcess.Input = .none, output: ToolProcess.Output = .collected
    ) throws -> ToolProcess {
        try start(
            name, bytes: arguments.map { Array($0.utf8) }, environment: environment, input: input,
            output: output)
    }

    package func start(
        _ name: String, bytes arguments: [[UInt8]], environment: [String: String]? = nil,
        input: ToolProcess.Input = .none, output: ToolProcess.Output = .collected
    ) throws -> ToolProcess {
        let tool = try ToolProcess(
            name, arguments, on: self, environment: environment ?? self.environment, input: input,
            output: output)
        add(tool)
        return tool
    }

    /// Runs a line of shell; the tools are in its PATH.
    package func shell(
        _ script: String, environment: [String: String]? = nil, input: ToolProcess.Input = .none,
        output: ToolProcess.Output = .collected
    ) throws -> ToolProcess {
        try start("/bin/sh", "-c", script, environment: environment, input: input, output: output)
    }

    /// A broker that clients can connect to.
    @discardableResult
    package func broker(_ arguments: String...) throws -> ToolProcess {
        let broker = try start("notification-broker", bytes: arguments.map { Array($0.utf8) })
        try broker.errorLine("listening on ")
        return broker
    }

    /// A receiver that is observing.
    package func receiver(_ arguments: String...) throws -> ToolProcess {
        let receiver = try start("receive-data", bytes: arguments.map { Array($0.utf8) })
        let line = try receiver.line()
        guard line == "NO DATA" else { throw TestFailure("'\(line)' instead of NO DATA") }
        return receiver
    }

    /// `send-data`, to its end, which must be a good one.
    @discardableResult
    package func send(_ arguments: String..., input: ToolProcess.Input = .none) throws -> ToolProcess {
        let sender = try start("send-data", bytes: arguments.map { Array($0.utf8) }, input: input)
        let status = try sender.status()
        guard status == 0 else {
            throw TestFailure("send-data \(arguments) ended with \(status)\n\(sender.summary)")
        }
        return sender
    }
}
