package import UnixIO

extension Tool {
    /// The whole of a tool's life: safe standard streams, no death by SIGPIPE, the command line, help and version, then
    /// `body`; its failure is told in one line, and its status is the process's.
    package func run(_ body: (Arguments) throws(Failure) -> ExitStatus) -> Never {
        Streams.secureStandardStreams()
        Signal.ignore(.brokenPipe)
        CurrentProcess.exit(status(of: body).rawValue)
    }

    /// One line on standard error that ends nothing: a hint, a warning, news.
    package func say(_ message: String, until limit: WaitLimit = .none) {
        say(Array(message.utf8), until: limit)
    }

    package func say(_ message: [UInt8], until limit: WaitLimit = .none) {
        StandardError.write(messageLine(name, message), until: limit)
    }

    private func status(of body: (Arguments) throws(Failure) -> ExitStatus) -> ExitStatus {
        do throws(Failure) {
            switch try parse(CurrentProcess.arguments()) {
            case .run(let arguments): return try body(arguments)
            case .help: try print(helpText)
            case .version: try print("\(name) \(version)\n")
            }
            return .success
        } catch {
            say(error.message)
            return error.status
        }
    }

    private func print(_ text: String) throws(Failure) {
        do throws(StandardOutput.Trouble) {
            try StandardOutput.write(Array(text.utf8))
        } catch {
            if let failure = error.failure { throw failure }
        }
    }
}
