extension Tool {
    /// What `--help` prints: usage, summary, every option, every exit status; no line over 80 columns unless a word is.
    package var helpText: String {
        var text = ""
        for (index, line) in usage.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            text += (index == 0 ? "Usage: " : "       ") + name + (line.isEmpty ? "" : " " + line) + "\n"
        }
        text += "\n" + wrapped(summary, indent: 0) + "\nOptions:\n"
        let spellings = options.map(spelling)
        let column = min(30, (spellings.map(\.count).max() ?? 0) + 2)
        for (option, spelling) in zip(options, spellings) {
            text += entry(spelling, "\(option.help)", column: column)
        }
        text += "\nExit status:\n"
        for status in exitStatuses() {
            let number = String(status.rawValue)
            let padding = String(repeating: " ", count: 3 - number.count)
            text += entry("  " + padding + number, status.meaning, column: 7)
        }
        return text
    }

    private func spelling(of option: Option) -> String {
        let short = option.short.map { "-\($0), " } ?? "    "
        return "  \(short)--\(option.long)" + (option.value.map { " \($0)" } ?? "")
    }

    /// A term, and beside it (below, if it is too long) what it means.
    private func entry(_ term: String, _ meaning: String, column: Int) -> String {
        let block = wrapped(meaning, indent: column)
        guard term.count + 2 <= column else { return term + "\n" + block }
        return term + block.dropFirst(term.count)
    }

    private func wrapped(_ text: String, indent: Int) -> String {
        let width = 79
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var line = margin
            for word in paragraph.split(separator: " ") {
                if line.count > indent && line.count + 1 + word.count > width {
                    lines.append(line)
                    line = margin
                }
                line += (line.count > indent ? " " : "") + word
            }
            lines.append(paragraph.isEmpty ? "" : line)
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
