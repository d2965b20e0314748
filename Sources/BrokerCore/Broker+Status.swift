import WireProtocol

extension Broker {
    /// How much a status tells of each client's observers, and of the busiest names.
    private static let observing = 32
    private static let busiestShown = 64

    /// The broker's figures. Other users than its own and root see the totals and their own clients only.
    func status(id: UInt64, detail: Bool, for session: Session) -> [UInt8] {
        let statistics = delivery.statistics
        var frame = FrameWriter("status")
        frame.member("id", id)
        frame.member("version", configuration.version)
        frame.member("instance", configuration.instance)
        frame.member("pid", configuration.pid)
        frame.member("uptime", uptime / 1_000_000_000)
        frame.member("connections", sessions.count)
        frame.member("observers", statistics.observers)
        frame.member("retained", retained.count)
        frame.member("posted", statistics.posted)
        frame.member("delivered", statistics.delivered)
        frame.member("dropped", statistics.dropped)
        frame.member("rejected", statistics.rejected)
        frame.member("bytesIn", statistics.bytesIn)
        frame.member("bytesOut", statistics.bytesOut)
        frame.member("queuedBytes", delivery.queuedBytes)
        let shown = sessions.sessions.compactMap { $0 }.filter {
            !session.isForeign || $0.sender.uid == session.sender.uid
        }
        frame.key("clients")
        frame.array(shown) { frame, client in
            self.describe(client, detail: detail, in: &frame)
        }
        if detail {
            frame.key("busiest")
            let names = session.isForeign ? [] : busiest.top(Self.busiestShown)
            frame.array(names) { frame, busy in
                frame.object { frame in
                    frame.member("name", text: busy.name)
                    frame.member("count", busy.count)
                }
            }
        }
        return frame.finish()
    }

    private func describe(_ client: Session, detail: Bool, in frame: inout FrameWriter) {
        frame.object { frame in describeMembers(of: client, detail: detail, in: &frame) }
    }

    private func describeMembers(of client: Session, detail: Bool, in frame: inout FrameWriter) {
        frame.member("pid", max(client.sender.pid, 0))
        frame.member("uid", client.sender.uid)
        if let program = programName(client.sender.pid) { frame.member("program", text: Self.valid(program)) }
        if let name = client.clientName { frame.member("client", text: name) }
        if detail { frame.member("connection", client.sender.connection) }
        frame.member("observers", client.observers.count)
        if detail {
            frame.key("observing")
            let texts = Set(client.observers.values.lazy.map(\.subject.text).prefix(4 * Self.observing))
            frame.array(texts.prefix(Self.observing)) { $0.string($1) }
        }
        frame.member("posted", client.posted)
        frame.member("delivered", client.delivered)
        frame.member("dropped", sessions.losses[Int(client.slot)].dropped)
        frame.member("queuedBytes", sessions.outlets[Int(client.slot)].pending)
        frame.member("paused", client.isPaused)
    }

    /// A process may call itself anything: what is no UTF-8 is replaced.
    private static func valid(_ text: [UInt8]) -> [UInt8] {
        [UInt8](String(decoding: text, as: UTF8.self).utf8)
    }
}
