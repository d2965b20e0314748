import WireProtocol

/// Reads from an encoded notification whose it is: its name and object as one hash, and its seq.
///
/// The frames are the broker's own, so their members lie where the encoder puts them.
final class NotificationKeys {
    private let hash: ByteHash
    private var plain: [UInt8] = []

    init(hash: ByteHash) {
        self.hash = hash
    }

    /// A retained notification has no key: it is part of a state that is to come whole, and nothing replaces it.
    func key(of frame: UnsafeRawBufferPointer) -> (hash: UInt64, seq: UInt64)? {
        var position = NotificationEncoder.seqOffset
        var seq: UInt64 = 0
        while position < frame.count, frame[position] &- 0x30 < 10 {
            seq = seq &* 10 &+ UInt64(frame[position] &- 0x30)
            position += 1
        }
        // Behind the sender's object, the only one before the name.
        guard let brace = frame[position...].firstIndex(of: UInt8(ascii: "}")) else { return nil }
        let nameStart = brace + NotificationEncoder.nameLabel.utf8CodeUnitCount + 1
        guard let name = string(frame, from: nameStart) else { return nil }
        var key = name.hash
        var end = name.end
        if let objectStart = skip(NotificationEncoder.objectLabel, in: frame, at: end),
            let object = string(frame, from: objectStart)
        {
            key = ByteHash.mix(key | 1, object.hash | 1) ^ key
            end = object.end
        }
        end = skip(NotificationEncoder.immediately, in: frame, at: end) ?? end
        if skip(NotificationEncoder.retained, in: frame, at: end) != nil { return nil }
        return (key | 1, seq)
    }

    /// The end of a text that stands here; nil if another does.
    private func skip(_ text: StaticString, in frame: UnsafeRawBufferPointer, at start: Int) -> Int? {
        let end = start + text.utf8CodeUnitCount
        guard end <= frame.count else { return nil }
        let found = UnsafeRawBufferPointer(rebasing: frame[start..<end])
        return equalBytes(found, UnsafeRawBufferPointer(start: text.utf8Start, count: found.count))
            ? end : nil
    }

    /// The hash of the string that begins here, unescaped, and where it ends.
    private func string(_ frame: UnsafeRawBufferPointer, from start: Int) -> (hash: UInt64, end: Int)? {
        var position = start + 1
        var escaped = false
        while position < frame.count, frame[position] != UInt8(ascii: "\"") {
            if frame[position] == UInt8(ascii: "\\") {
                escaped = true
                position += 1
            }
            position += 1
        }
        guard position < frame.count else { return nil }
        let raw = UnsafeRawBufferPointer(rebasing: frame[start + 1..<position])
        if !escaped { return (hash(raw), position + 1) }
        plain.removeAll(keepingCapacity: true)
        JSONString.unescape(raw, into: &plain)
        return (plain.withUnsafeBytes { hash($0) }, position + 1)
    }
}
