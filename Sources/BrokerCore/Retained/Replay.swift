import WireProtocol

/// The retained notifications that one observer is still to be given.
///
/// It names them all at once, but reads each from the store only when the connection can take it; one that was replaced or
/// cleared meanwhile is skipped.
final class Replay {
    private let label: [UInt8]
    private var waiting: ArraySlice<RetainedNotification>

    init(label: [UInt8], _ notifications: [RetainedNotification]) {
        self.label = label
        waiting = notifications[...]
    }

    var isFinished: Bool { waiting.isEmpty }

    /// Writes the next ones, up to about `limit` bytes, in pieces; the first piece of each counts as one notification.
    func pull(upTo limit: Int, _ append: (Piece, ByteStorage, _ notifications: Int) -> Void) {
        var pulled = 0
        while pulled < limit, let next = waiting.popFirst() {
            guard next.isCurrent else { continue }
            let userInfo = next.userInfo
            let front = NotificationEncoder.retainedFront(
                seq: next.seq, time: next.time, sender: next.sender, name: quoted(next.name),
                object: next.object.map(quoted), deliverImmediately: next.deliverImmediately, observer: label,
                userInfoBytes: userInfo == nil ? nil : next.userInfoBytes)
            // A large userInfo is sent from the store's own memory.
            let isCopied = next.userInfoBytes < 16 << 10
            let size = front.count + (isCopied ? next.userInfoBytes : 0) + 1
            let storage = ByteStorage(capacity: size)
            let bytes = UnsafeMutableRawBufferPointer(start: storage.base, count: size)
            bytes.copyBytes(from: front)
            bytes[size - 1] = UInt8(ascii: "}")
            let base = UnsafeRawPointer(storage.base)
            if let userInfo, !isCopied {
                append(Piece(start: base, count: front.count), storage, 1)
                append(Piece(start: UnsafeRawPointer(userInfo.base), count: next.userInfoBytes), userInfo, 0)
                append(Piece(start: base + front.count, count: 1), storage, 0)
            } else {
                if let userInfo {
                    (storage.base + front.count).copyMemory(
                        from: userInfo.base, byteCount: next.userInfoBytes)
                }
                append(Piece(start: base, count: size), storage, 1)
            }
            pulled += front.count + next.userInfoBytes + 1
        }
        while let next = waiting.first, !next.isCurrent { waiting.removeFirst() }
    }

    private func quoted(_ text: [UInt8]) -> [UInt8] {
        var json: [UInt8] = []
        JSONString.append(text, quotedTo: &json)
        return json
    }
}
