import CommandLineSupport
import DistributedNotifications
import Foundation

/// Measures the library: how fast one process's posts come out of an asynchronous sequence in another, and what a post costs
/// the one who makes it. The broker beside this executable is started for it.
///
///     library-bench [COUNT]
@main struct LibraryBench {
    // Not asynchronous: a post inside a task doesn't wait where the outbox is full.
    static func main() {
        let arguments = CommandLine.arguments
        if arguments.count == 5, arguments[1] == "post", let load = Load(rawValue: arguments[2]),
            let count = Int(arguments[4])
        {
            load.postMany(count, through: DistributedNotificationCenter(socketPath: arguments[3]))
            FileHandle.standardOutput.write(Data("posted \(count)\n".utf8))
        } else if arguments.count <= 2, let count = arguments.count == 1 ? 500_000 : Int(arguments[1]),
            count > 1
        {
            Task {
                do {
                    try await measure(count)
                    exit(0)
                } catch {
                    fail("\(error)", 1)
                }
            }
            dispatchMain()
        } else {
            fail("usage: library-bench [COUNT], at least 2", 64)
        }
    }

    private static func fail(_ message: String, _ status: Int32) -> Never {
        FileHandle.standardError.write(Data("library-bench: \(message)\n".utf8))
        exit(status)
    }

    private static func measure(_ count: Int) async throws {
        let broker = try OwnBroker()
        defer { broker.end() }
        for load in Load.allCases {
            print("\(load.title): \(try await Flow(load, count, broker))")
        }
        for load in Load.allCases {
            print("post of \(load.title): \(try await PostCost(load, broker))")
        }
    }
}
