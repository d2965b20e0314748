/// Results for people.
struct ResultTable {
    private let results: [Measurement]

    init(_ results: [Measurement]) {
        self.results = results
    }

    var text: String {
        var lines = rows
        for result in results where !result.roundTrips.isEmpty {
            let figures = Measurement.percentiles.map {
                "\($0.name) \(decimal(result.roundTrip($0.share), 1)) us"
            }
            lines += ["", "\(result.plan.workload.rawValue): \(figures.joined(separator: ", "))"]
        }
        if results.contains(where: { $0.plan.workload == .connect }) {
            lines += ["", "connect: one connection counts as one post"]
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private var rows: [String] {
        let head = [
            "WORKLOAD", "SENDERS", "RECEIVERS", "BYTES", "POSTED", "DELIVERED", "SECONDS", "POSTS/S",
            "DELIVERIES/S",
            "BROKER", "SENDING", "RECEIVING", "NS/DELIVERY", "",
        ]
        let rows = [head] + results.map(cells)
        let widths = head.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                line += column == 0 ? cell + padding : "  " + padding + cell
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    private func cells(_ result: Measurement) -> [String] {
        let figures = result.plan.figures
        return [
            result.plan.workload.rawValue, "\(figures.senders)", "\(figures.receivers)", "\(figures.size)",
            grouped(Double(result.posted)), grouped(Double(result.delivered)), decimal(result.seconds, 3),
            grouped(Double(result.posted) / result.seconds),
            grouped(Double(result.delivered) / result.seconds),
            result.brokerBusy.map(percent) ?? "-", percent(result.sendersBusy), percent(result.receiversBusy),
            result.brokerNanoseconds.map { grouped($0) } ?? "-", result.faults.isEmpty ? "" : "FAULTY",
        ]
    }

    private func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }
}

/// With commas between the thousands.
func grouped(_ number: Double) -> String {
    var text = ""
    for (index, digit) in String(Int(number.rounded())).reversed().enumerated() {
        if index > 0, index % 3 == 0 { text.append(",") }
        text.append(digit)
    }
    return String(text.reversed())
}

func decimal(_ number: Double, _ places: Int) -> String {
    let unit = (0..<places).reduce(1) { unit, _ in unit * 10 }
    let (whole, rest) = Int((number * Double(unit)).rounded()).quotientAndRemainder(dividingBy: unit)
    return "\(whole)." + String(rest + unit).dropFirst()
}
