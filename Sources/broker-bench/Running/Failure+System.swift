import CommandLineSupport
import UnixIO

extension Failure {
    /// What the kernel refuses as a failure of the tool.
    @discardableResult
    static func of<Result: ~Copyable>(
        _ body: () throws(SystemError) -> Result
    ) throws(Failure) -> Result {
        do throws(SystemError) {
            return try body()
        } catch {
            throw Failure(.systemError, error.description)
        }
    }

    func naming(_ workload: Workload) -> Failure { Failure(status, "\(workload.rawValue): \(message)") }

    /// Of those who are told to stop, because something else went wrong.
    static let calledOff = Failure(.interrupted, "called off")
}
