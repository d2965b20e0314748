/// One measurement: who posts how much of what, and who gets it.
struct Plan: Sendable {
    struct Figures: Sendable {
        var senders = 1
        var receivers = 1
        /// Bytes of the userInfo's JSON.
        var size = 64
        /// Names that are posted in turn.
        var names = 1
        /// Globs of a bystander, which match nothing.
        var globs = 0
        /// Observers that the bystander adds or removes, a second.
        var changes = 0
    }

    let workload: Workload
    var figures: Figures
    /// Posts (connections, for `connect`) of all senders together.
    var count: Int
    /// Each post has a name that was never used before.
    var usesFreshNames = false
    /// Receivers observe by one glob instead of by name.
    var observesByGlob = false
    /// Each post asks for its answer.
    var asksForAnswers = false
    var retains = false
    var receiverThreads = 1
    /// The beginning of every name, so that two measurements at one broker don't meet.
    let subject: String

    static let leastSize = 27
    static let mostSenders = 9_999

    /// What one sender posts; all post the same.
    var countPerSender: Int { max(1, count / max(1, figures.senders)) }

    var naming: Naming {
        if usesFreshNames { return .fresh }
        return figures.names > 1 || retains
            ? .rotating(names: retains ? countPerSender : figures.names) : .single
    }

    enum Naming: Sendable {
        case single
        /// A post's number decides its name; each name ends in eight digits.
        case rotating(names: Int)
        /// A name ends in the post's whole stamp.
        case fresh
    }

    var glob: String { "\(subject)*" }

    /// What the receiver with this index is to get.
    func share(of receiver: Int) -> Share {
        guard case .rotating(let names) = naming, !observesByGlob else { return Share() }
        return Share(names: names, step: figures.receivers, first: receiver)
    }
}

/// The numbers of each sender's posts that one receiver observes: all, or those of its names. Name `i` of several belongs
/// to the receiver `i mod receivers`, and post `k` has the name `k mod names`.
struct Share: Sendable {
    var names = 1
    var step = 1
    var first = 0

    /// The one that follows on a number of this share.
    @inline(__always)
    func next(after number: Int) -> Int {
        if step == 1 { return number &+ 1 }
        let name = number % names
        return name &+ step < names ? number &+ step : number &- name &+ names &+ first
    }

    func count(from number: Int, below end: Int) -> Int {
        if step == 1 { return max(0, end - number) }
        var count = 0
        var number = number
        while number < end {
            count += 1
            number = next(after: number)
        }
        return count
    }
}
