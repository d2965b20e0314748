import CommandLineSupport

/// Serves until a signal ends it.
struct RunCommand {
    let options: RunOptions

    func run() throws(Failure) -> ExitStatus {
        throw Failure(.systemError, "this build serves nobody")
    }
}
