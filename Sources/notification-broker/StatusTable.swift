import CommandLineSupport
import Endpoint
import WireProtocol

/// The broker's figures for people.
struct StatusTable {
    private let report: StatusReport
    private let place: SocketPath

    init(_ report: StatusReport, _ place: SocketPath) {
        self.report = report
        self.place = place
    }

    var text: String {
        var lines = [
            "notification-broker \(report.version), pid \(report.figure("pid")), up \(uptime), at \(place.path)",
            "\(counted("connections")), \(counted("observers")), \(counted("retained"))",
            "\(counted("posted")), \(counted("delivered")), \(counted("dropped")), \(counted("rejected"))",
            "\(bytes("bytesIn")) in, \(bytes("bytesOut")) out, \(bytes("queuedBytes")) queued",
            "",
        ]
        lines += clients
        return lines.map { shown($0) + "\n" }.joined()
    }

    private var clients: [String] {
        let head = [
            "PID", "UID", "PROGRAM", "CLIENT", "OBSERVERS", "POSTED", "DELIVERED", "DROPPED", "QUEUED", "",
        ]
        let rows =
            [head]
            + report.clients.map { client in
                [
                    "\(client.pid)", "\(client.uid)", client.program ?? "-", client.client ?? "-",
                    "\(client.observers)", "\(client.posted)", "\(client.delivered)", "\(client.dropped)",
                    "\(client.queuedBytes)", client.isPaused ? "paused" : "",
                ]
            }
        let widths = head.indices.map { column in rows.map { shown($0[column]).count }.max() ?? 0 }
        return rows.map { row in
            var line = ""
            for (index, cell) in row.enumerated() {
                let cell = shown(cell)
                let padding = String(repeating: " ", count: widths[index] - cell.count)
                let isText = index == 2 || index == 3 || index == row.count - 1
                line += (index == 0 ? "" : "  ") + (isText ? cell + padding : padding + cell)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// What programs call themselves is theirs to choose: it must not forge lines, nor move the cursor.
    private func shown(_ text: String) -> String {
        var bytes: [UInt8] = []
        ControlCharacters.escape(Array(text.utf8)[...], as: .braces, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func counted(_ figure: String) -> String {
        let count = report.figure(figure)
        return count == 1 && figure.hasSuffix("s") ? "1 \(figure.dropLast())" : "\(count) \(figure)"
    }

    private func bytes(_ figure: String) -> String {
        let count = report.figure(figure)
        switch count {
        case ..<10_240: return "\(count) bytes"
        case ..<(10 << 20): return "\(count >> 10) KiB"
        case ..<(10 << 30): return "\(count >> 20) MiB"
        default: return "\(count >> 30) GiB"
        }
    }

    private var uptime: String {
        let seconds = report.figure("uptime")
        switch seconds {
        case ..<120: return "\(seconds) s"
        case ..<7_200: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3_600) h"
        default: return "\(seconds / 86_400) days"
        }
    }
}
