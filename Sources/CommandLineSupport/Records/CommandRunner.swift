package import UnixIO

/// Runs a shell command for one notification after the other, each to its end.
///
/// The frame is the command's standard input as an anonymous file, not a pipe: so nobody has to feed it, a command that
/// never reads it does no harm, and there is nothing to wait for but the command's end.
package struct CommandRunner: Sendable {
    /// What a command learns of its notification.
    package struct Input: Sendable {
        package let name: [UInt8]
        package let object: [UInt8]?
        package let value: ShownValue
        package let frame: ArraySlice<UInt8>

        package init(name: [UInt8], object: [UInt8]?, value: ShownValue, frame: ArraySlice<UInt8>) {
            self.name = name
            self.object = object
            self.value = value
            self.frame = frame
        }
    }

    package enum Outcome: Equatable, Sendable {
        case succeeded
        /// What to tell of it.
        case failed(String)
        /// The limit came first; the command was asked to end (SIGTERM) and is not waited for.
        case interrupted
    }

    private let command: [UInt8]
    /// This process's environment without the variables that are set for each notification.
    private let environment: [[UInt8]]

    package init(command: [UInt8], environment: [[UInt8]] = CurrentProcess.environment()) {
        self.command = command
        self.environment = environment.filter { entry in
            !Variable.allCases.contains { entry.starts(with: $0.prefix) }
        }
    }

    package func run(_ input: Input, until limit: WaitLimit = .none) -> Outcome {
        do throws(SystemError) {
            let child = try start(input)
            guard try ended(child, until: limit) else {
                try? child.send(.terminate)
                return .interrupted
            }
            return try outcome(of: child.wait())
        } catch {
            return .failed("can't run the command: \(error.reason)")
        }
    }

    private func outcome(of end: ChildProcess.End) -> Outcome {
        switch end {
        case .exited(0): .succeeded
        case .exited(let status): .failed("the command ended with status \(status)")
        case .signaled(let signal): .failed("the command was ended by signal \(signal.rawValue)")
        }
    }

    private func start(_ input: Input) throws(SystemError) -> ChildProcess {
        var record: [UInt8] = []
        oneLine(input.frame, to: &record)
        record.append(UInt8(ascii: "\n"))
        let file = try Descriptor.memoryFile(holding: record)
        do throws(SystemError) {
            return try start(file, variables(for: input))
        } catch {
            // All variables together have a limit too, which depends on the stack's.
            guard error.isArgumentListTooLong else { throw error }
            return try start(file, variables(for: input).filter { !$0.starts(with: Variable.data.prefix) })
        }
    }

    private func start(_ file: borrowing Descriptor, _ variables: [[UInt8]]) throws(SystemError)
        -> ChildProcess
    {
        try ChildProcess(
            program: "/bin/sh", arguments: ["/bin/sh", "-c"].map { Array($0.utf8) } + [command],
            environment: environment + variables, descriptors: [(from: file.number, to: Streams.input)])
    }

    /// Waits for the child's end; false if the limit came before.
    private func ended(_ child: borrowing ChildProcess, until limit: WaitLimit) throws(SystemError) -> Bool {
        let end: Descriptor
        do throws(SystemError) {
            end = try child.endDescriptor()
        } catch {
            // Out of descriptors, say. One at a time, and no zombies, are worth more than to heed the limit.
            return true
        }
        var entries = [PollEntry(end.number, .readable), PollEntry(limit.alarm ?? -1, .readable)]
        try PollEntry.wait(for: &entries, until: limit.deadline)
        return !entries[0].readiness.isEmpty
    }

    private enum Variable: String, CaseIterable {
        case name = "NOTIFICATION_NAME"
        case object = "NOTIFICATION_OBJECT"
        case data = "NOTIFICATION_DATA"

        var prefix: [UInt8] { Array("\(rawValue)=".utf8) }

        /// `NAME=VALUE`; nil where that can't be a variable: a NUL would cut it, and the kernel's MAX_ARG_STRLEN is
        /// 128 KiB, the NUL at its end included.
        func entry(_ value: [UInt8]) -> [UInt8]? {
            let entry = prefix + value
            return value.contains(0) || entry.count >= 128 << 10 ? nil : entry
        }
    }

    private func variables(for input: Input) -> [[UInt8]] {
        var variables = [Variable.name.entry(input.name)]
        variables.append(input.object.flatMap(Variable.object.entry))
        switch input.value {
        case .text(let text):
            variables.append(Variable.data.entry(text))
        case .json(let json):
            var line: [UInt8] = []
            oneLine(json[...], to: &line)
            variables.append(Variable.data.entry(line))
        case .none:
            break
        }
        return variables.compactMap(\.self)
    }
}
