extension Measurement {
    /// One object on one line.
    var json: String {
        let figures = plan.figures
        var members = [
            ("workload", "\"\(plan.workload.rawValue)\""), ("senders", "\(figures.senders)"),
            ("receivers", "\(figures.receivers)"), ("size", "\(figures.size)"), ("names", "\(figures.names)"),
            ("globs", "\(figures.globs)"), ("changes", "\(figures.changes)"),
            ("freshNames", "\(plan.usesFreshNames)"), ("match", "\(plan.observesByGlob)"),
            ("answers", "\(plan.asksForAnswers)"),
        ]
        if plan.workload == .connect {
            members += [("connections", "\(posted)")]
        } else {
            members += [("posted", "\(posted)"), ("delivered", "\(delivered)")]
        }
        members += [("seconds", decimal(seconds, 6))]
        if plan.workload == .connect {
            members += [("connectionsPerSecond", decimal(Double(posted) / seconds, 1))]
        } else {
            members += [
                ("postsPerSecond", decimal(Double(posted) / seconds, 1)),
                ("deliveriesPerSecond", decimal(Double(delivered) / seconds, 1)),
            ]
        }
        members += [
            ("brokerBusy", brokerBusy.map { decimal($0, 3) } ?? "null"),
            ("sendersBusy", decimal(sendersBusy, 3)),
            ("receiversBusy", decimal(receiversBusy, 3)),
            ("brokerNanoseconds", brokerNanoseconds.map { decimal($0, 1) } ?? "null"),
        ]
        if !roundTrips.isEmpty {
            let trips = Self.percentiles.map { "\"\($0.name)\":\(decimal(roundTrip($0.share), 2))" }
            members += [("microseconds", "{\(trips.joined(separator: ","))}")]
        }
        members += [
            ("missing", "\(faults.missing)"), ("doubled", "\(faults.doubled)"),
            ("disordered", "\(faults.disordered)"), ("damaged", "\(faults.damaged)"),
        ]
        return "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }
}
