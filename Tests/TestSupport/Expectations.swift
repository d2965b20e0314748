extension ToolProcess {
    /// It ends as every failure does: with that status, and one line on standard error that names the tool and holds the
    /// text; nothing on standard output.
    package func expectFailure(
        _ status: Int32, _ text: String = "", within seconds: Double = Stage.patience
    ) throws {
        let found = try self.status(within: seconds)
        guard found == status else { throw TestFailure("status \(found) instead of \(status)\n\(summary)") }
        let tool = name.split(separator: "/").last ?? ""
        guard errorText.hasPrefix("\(tool): "), errorText.hasSuffix("\n"), errorLines.count == 1 else {
            throw TestFailure("not one line of \(tool): \(errorText.debugDescription)")
        }
        guard errorText.contains(text) else {
            throw TestFailure("no '\(text)' in \(errorText.debugDescription)")
        }
        guard output.bytes.isEmpty else { throw TestFailure("output: \(outputText.debugDescription)") }
    }

    /// It ends with that status, a good one if none is given, and has written exactly this.
    package func expectEnd(
        _ status: Int32 = 0, output wanted: String? = nil, within seconds: Double = Stage.patience
    ) throws {
        let found = try self.status(within: seconds)
        guard found == status else { throw TestFailure("status \(found) instead of \(status)\n\(summary)") }
        if let wanted, wanted != outputText {
            throw TestFailure("\(outputText.debugDescription) instead of \(wanted.debugDescription)")
        }
    }

    package func expectLine(_ wanted: String, within seconds: Double = Stage.patience) throws {
        let line = try line(within: seconds)
        guard line == wanted else { throw TestFailure("'\(line)' instead of '\(wanted)'\n\(summary)") }
    }
}
