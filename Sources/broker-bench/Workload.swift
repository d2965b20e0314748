/// What can be measured.
enum Workload: String, CaseIterable, Sendable {
    case throughput
    case fanOut = "fan-out"
    case fanIn = "fan-in"
    case latency
    case observers
    case retained
    case connect

    /// For the help text.
    var meaning: String {
        switch self {
        case .throughput: "one sender, one receiver, as fast as it goes"
        case .fanOut: "one sender, 100 receivers of everything"
        case .fanIn: "16 senders, one receiver"
        case .latency: "one notification at a time, from its post to its receipt"
        case .observers: "10,000 names shared by 100 receivers, beside globs and changes"
        case .retained: "what was retained, to receivers that come later"
        case .connect: "connections opened, greeted and closed"
        }
    }

    /// What is done where the command line does not say otherwise.
    var defaults: Plan.Figures {
        switch self {
        case .throughput, .latency: Plan.Figures()
        case .fanOut: Plan.Figures(receivers: 100)
        case .fanIn: Plan.Figures(senders: 16)
        case .observers: Plan.Figures(receivers: 100, names: 10_000, globs: 1_000, changes: 1_000)
        case .retained: Plan.Figures(receivers: 10)
        case .connect: Plan.Figures(senders: 16, receivers: 0)
        }
    }

    /// As many as take about a second where the machine is not busy.
    func defaultCount(_ figures: Plan.Figures) -> Int {
        let moved = 1 << 30
        let copies = figures.names > 1 ? 1 : max(figures.receivers, 1)
        let affordable = moved / (figures.size + 200) / copies
        return switch self {
        case .latency: max(100, min(affordable, 20_000))
        case .connect: 10_000
        case .retained: max(10, min(10_000, (32 << 20) / (figures.size + 100)))
        case .throughput, .fanOut, .fanIn, .observers: max(100, min(affordable, 2_000_000))
        }
    }
}
