import Glibc
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
        case terminal(Terminal)
        case file(Path)
        /// A descriptor of the test's, which keeps its own.
        case descriptor(Int32)
    }

    package let name: String
    package let output: ByteStream
    package let errors: ByteStream
    private unowned let stage: Stage
    private let child: ChildProcess
    private let end: Descriptor
    private var ended: ChildProcess.End?
    private var input: Descriptor?

    package var pid: Int32 { child.pid }

    fileprivate init(
        _ name: String, _ arguments: [[UInt8]], on stage: Stage, environment: [String: String], input: Input,
        output: Output, errors: Output, passing extra: [(from: Int32, to: Int32)]
    ) throws {
        self.name = name
        self.stage = stage
        let source = try Source(input)
        let outputSink = try Sink(output)
        let errorSink = try Sink(errors)
        let program = name.contains("/") ? Path(name) : Executables.directory.appending(name)
        child = try ChildProcess(
            program: program, arguments: [Array(name.utf8)] + arguments,
            environment: environment.map { Array("\($0.key)=\($0.value)".utf8) },
            descriptors: [(source.tool.number, 0), (outputSink.tool.number, 1), (errorSink.tool.number, 2)]
                + extra)
        end = try child.endDescriptor()
        self.output = stage.read(outputSink.test)
        self.errors = stage.read(errorSink.test)
        self.input = source.test
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
            errors.hasEnded && output.hasEnded ? true : nil
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
        try stage.wait(for: "a line of \(name)", within: seconds) {
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

    package var outputText: String { String(decoding: output.bytes, as: UTF8.self) }
    package var errorText: String { String(decoding: errors.bytes, as: UTF8.self) }
    package var errorLines: [String] { errorText.split(separator: "\n").map(String.init) }

    var summary: String {
        let state = ended.map { "\($0)" } ?? "runs"
        return "- \(name) \(pid) \(state); out: \(outputText.suffix(300).debugDescription); "
            + "err: \(errorText.suffix(600).debugDescription)"
    }
}

/// A tool's standard input, and the test's end of it where it is a pipe.
private struct Source: ~Copyable {
    let tool: Descriptor
    let test: Descriptor?

    init(_ input: ToolProcess.Input) throws {
        switch input {
        case .none:
            tool = try FileSystem.openForReading("/dev/null")
            test = nil
        case .bytes(let bytes):
            tool = try Descriptor.memoryFile(holding: bytes)
            test = nil
        case .open:
            let pipe = try Pipe()
            tool = Descriptor(adopting: duplicate(pipe.reading.number))
            test = Descriptor(adopting: duplicate(pipe.writing.number))
        case .terminal(let terminal):
            tool = Descriptor(adopting: duplicate(terminal.tool.number))
            test = nil
        }
    }
}

/// A tool's standard output or error, and what the test reads of it: nothing where it is no pipe.
private struct Sink: ~Copyable {
    let tool: Descriptor
    let test: Descriptor

    init(_ output: ToolProcess.Output) throws {
        let pipe = try Pipe()
        let number: Int32
        switch output {
        case .collected:
            number = duplicate(pipe.writing.number)
        case .terminal(let terminal):
            number = duplicate(terminal.tool.number)
        case .file(let path):
            number = open(String(describing: path), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            guard number >= 0 else { throw TestFailure("can't open \(path): \(errno)") }
        case .descriptor(let own):
            number = duplicate(own)
        }
        tool = Descriptor(adopting: number)
        // Where the tool has something else, the pipe is at its end at once.
        test = Descriptor(adopting: duplicate(pipe.reading.number))
    }
}

extension Stage {
    /// Starts a tool of the package, or any program by its whole path.
    package func start(
        _ name: String, _ arguments: String..., environment: [String: String]? = nil,
        input: ToolProcess.Input = .none, output: ToolProcess.Output = .collected,
        errors: ToolProcess.Output = .collected
    ) throws -> ToolProcess {
        try start(
            name, bytes: arguments.map { Array($0.utf8) }, environment: environment, input: input,
            output: output,
            errors: errors)
    }

    /// With arguments that need not be UTF-8. `extra` are descriptors beyond the standard ones, as `(here, there)`.
    package func start(
        _ name: String, bytes arguments: [[UInt8]], environment: [String: String]? = nil,
        input: ToolProcess.Input = .none, output: ToolProcess.Output = .collected,
        errors: ToolProcess.Output = .collected, passing extra: [(from: Int32, to: Int32)] = []
    ) throws -> ToolProcess {
        let tool = try ToolProcess(
            name, arguments, on: self, environment: environment ?? self.environment, input: input,
            output: output,
            errors: errors, passing: extra)
        add(tool)
        return tool
    }

    /// Runs a line of shell; the tools are in its PATH.
    package func shell(
        _ script: String, environment: [String: String]? = nil, input: ToolProcess.Input = .none,
        output: ToolProcess.Output = .collected, passing extra: [(from: Int32, to: Int32)] = []
    ) throws -> ToolProcess {
        try start(
            "/bin/sh", bytes: [Array("-c".utf8), Array(script.utf8)], environment: environment, input: input,
            output: output, passing: extra)
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
