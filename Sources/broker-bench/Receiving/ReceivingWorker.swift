import CommandLineSupport
import Endpoint
import UnixIO
import WireProtocol

/// Some of the receiving connections, on one thread: each checks what comes until the answer to a ping has come, which it sends
/// when all is posted, and which stands behind all that was sent to it before.
struct ReceivingWorker {
    private struct Receiver {
        let link: Link
        var check: DeliveryCheck
    }

    private let plan: Plan
    private let board: Board
    private let firstReceiver: Int
    private let memory = ByteStorage(capacity: 256 << 10)
    private var receivers: [Receiver] = []
    private var templates: [FrameTemplate?]
    private var open = 0
    private var report = WorkerReport(.receivers)

    private static let stopToken = UInt64.max
    private static let doneToken = UInt64.max - 1

    /// The receivers whose index leaves `index` when divided by the number of threads.
    static func worker(_ plan: Plan, _ index: Int, at place: SocketPath, until limit: WaitLimit) -> Worker {
        { board throws(Failure) in
            var worker = try ReceivingWorker(plan, index, at: place, board, until: limit)
            if !plan.retains { try worker.observe(until: limit) }
            try board.arrive()
            try board.report(try worker.run())
        }
    }

    private init(
        _ plan: Plan, _ index: Int, at place: SocketPath, _ board: Board, until limit: WaitLimit
    ) throws(Failure) {
        self.plan = plan
        self.board = board
        firstReceiver = index
        templates = [FrameTemplate?](repeating: nil, count: plan.figures.senders)
        for receiver in stride(from: index, to: plan.figures.receivers, by: plan.receiverThreads) {
            let link = try Link(place, until: limit)
            receivers.append(Receiver(link: link, check: DeliveryCheck(plan, receiver: receiver)))
        }
        open = receivers.count
        for index in receivers.indices where plan.retains {
            try receivers[index].link.exchange(Link.farewellPing, answers: 1, through: memory, until: limit)
        }
    }

    private func observe(until limit: WaitLimit) throws(Failure) {
        for (index, receiver) in receivers.enumerated() {
            let (requests, count) = plan.observing(receiver: firstReceiver + index * plan.receiverThreads)
            try receiver.link.exchange(requests, answers: count, through: memory, until: limit)
        }
    }

    private mutating func run() throws(Failure) -> WorkerReport {
        let cpu = CPUClock.thisThread()
        let poller = try Failure.of { () throws(SystemError) in try Poller() }
        for (index, receiver) in receivers.enumerated() {
            try Failure.of { () throws(SystemError) in
                try poller.add(receiver.link.number, .readable, token: UInt64(index))
            }
        }
        try Failure.of { () throws(SystemError) in
            try poller.add(board.stopNumber, .readable, token: Self.stopToken)
        }
        if plan.retains {
            report.began = MonotonicClock.now()
            try observeLate()
        } else {
            try Failure.of { () throws(SystemError) in
                try poller.add(board.sendersDoneNumber, .readable, token: Self.doneToken)
            }
        }
        while open > 0 {
            let count = try Failure.of { () throws(SystemError) in try poller.wait(until: nil) }
            for event in 0..<count {
                try serve(poller.event(at: event), poller)
            }
        }
        return finish(cpu)
    }

    /// Retained notifications come by themselves to whoever begins to observe.
    private func observeLate() throws(Failure) {
        for (index, receiver) in receivers.enumerated() {
            let requests = plan.observing(receiver: firstReceiver + index * plan.receiverThreads).requests
            _ = try receiver.link.write(requests[...])
            try sayFarewell(receiver.link)
        }
    }

    private mutating func serve(
        _ event: (token: UInt64, readiness: Readiness), _ poller: borrowing Poller
    ) throws(Failure) {
        switch event.token {
        case Self.stopToken:
            throw .calledOff
        case Self.doneToken:
            try Failure.of { () throws(SystemError) in try poller.remove(board.sendersDoneNumber) }
            for receiver in receivers { try sayFarewell(receiver.link) }
        default:
            let index = Int(event.token)
            if try receive(index) {
                open -= 1
                try Failure.of { () throws(SystemError) in try poller.remove(receivers[index].link.number) }
            }
        }
    }

    private func sayFarewell(_ link: Link) throws(Failure) {
        _ = try link.write(Link.farewellPing[...])
    }

    /// True when the last frame has come.
    private mutating func receive(_ index: Int) throws(Failure) -> Bool {
        let link = receivers[index].link
        guard try link.read(through: memory) else { return false }
        let before = receivers[index].check.delivered
        var isLast = false
        while let text = try link.nextFrame() {
            if receivers[index].check.take(text, templates) { continue }
            switch try link.message(text) {
            case .notification(let notification):
                if let (sender, template) = receivers[index].check.examine(notification, text) {
                    templates[sender] = template
                }
            case .ok(let answer) where answer.id == Link.farewell: isLast = true
            default: break
            }
        }
        let count = receivers[index].check.delivered - before
        if count > 0 {
            board.noteDelivered(count)
            report.ended = MonotonicClock.now()
        }
        return isLast
    }

    private mutating func finish(_ cpu: UInt64) -> WorkerReport {
        report.cpu = CPUClock.thisThread() - cpu
        for index in receivers.indices {
            receivers[index].check.finish()
            let check = receivers[index].check
            report.delivered += check.delivered
            report.faults.add(check.faults)
            if plan.share(of: 0).step == 1 { report.orders.append(check.order) }
        }
        return report
    }
}

extension Plan {
    /// The requests by which a receiver observes its share.
    func observing(receiver: Int) -> (requests: [UInt8], count: Int) {
        var requests: [UInt8] = []
        var count = 0
        func observe(_ names: ObservedNames) {
            count += 1
            RequestEncoder.addObserver(
                String(count), names: names, object: nil, overflow: .wait, id: UInt64(count), to: &requests)
        }
        switch naming {
        case .single where !observesByGlob:
            observe(.name(subject))
        case .rotating(let names) where !observesByGlob:
            for number in stride(from: receiver, to: names, by: figures.receivers) {
                observe(.name(name(sender: 0, number: number)))
            }
        case .single, .rotating, .fresh:
            observe(.matching(glob))
        }
        return (requests, count)
    }
}
