/// The members that frames of this protocol have, in either direction.
package enum MemberKey: UInt8, CaseIterable, Hashable, Sendable {
    case type, id, name, object, userInfo, deliverImmediately, retain
    case observer, match, overflow, count, detail, `protocol`, client, features
    case seq, time, sender, retained, receivers, first, last
    case code, message, protocols, reason, broker, connection, limits

    package var text: StaticString {
        switch self {
        case .type: "type"
        case .id: "id"
        case .name: "name"
        case .object: "object"
        case .userInfo: "userInfo"
        case .deliverImmediately: "deliverImmediately"
        case .retain: "retain"
        case .observer: "observer"
        case .match: "match"
        case .overflow: "overflow"
        case .count: "count"
        case .detail: "detail"
        case .protocol: "protocol"
        case .client: "client"
        case .features: "features"
        case .seq: "seq"
        case .time: "time"
        case .sender: "sender"
        case .retained: "retained"
        case .receivers: "receivers"
        case .first: "first"
        case .last: "last"
        case .code: "code"
        case .message: "message"
        case .protocols: "protocols"
        case .reason: "reason"
        case .broker: "broker"
        case .connection: "connection"
        case .limits: "limits"
        }
    }

    /// The key that is spelt by these bytes: first those of a post, which come most.
    @inline(always)
    static func usual(_ bytes: UnsafePointer<UInt8>, count: Int, readable: Int) -> MemberKey? {
        if readable >= 8 {
            let word = UInt64(littleEndian: UnsafeRawPointer(bytes).loadUnaligned(as: UInt64.self))
            if count == 4 {
                let four = UInt32(truncatingIfNeeded: word)
                if four == UInt32(truncatingIfNeeded: packed("name")) { return .name }
                if four == UInt32(truncatingIfNeeded: packed("type")) { return .type }
            } else if count == 8, word == packed("userInfo") {
                return .userInfo
            }
        }
        return spelt(bytes, count: count, readable: readable)
    }

    /// The key that is spelt by these bytes.
    @inline(never)
    static func spelt(_ bytes: UnsafePointer<UInt8>, count: Int, readable: Int) -> MemberKey? {
        guard count >= 2, count <= 18 else { return nil }
        let word = leadingWord(bytes, count: min(count, 8), readable: readable)
        let key: MemberKey
        switch count {
        case 2:
            guard word == packed("id") else { return nil }
            return .id
        case 3:
            guard word == packed("seq") else { return nil }
            return .seq
        case 4:
            if word == packed("type") { return .type }
            if word == packed("name") { return .name }
            if word == packed("time") { return .time }
            if word == packed("last") { return .last }
            return word == packed("code") ? .code : nil
        case 5:
            if word == packed("match") { return .match }
            if word == packed("count") { return .count }
            return word == packed("first") ? .first : nil
        case 6:
            if word == packed("object") { return .object }
            if word == packed("retain") { return .retain }
            if word == packed("sender") { return .sender }
            if word == packed("detail") { return .detail }
            if word == packed("client") { return .client }
            if word == packed("reason") { return .reason }
            if word == packed("broker") { return .broker }
            return word == packed("limits") ? .limits : nil
        case 7:
            return word == packed("message") ? .message : nil
        case 8:
            if word == packed("userInfo") { return .userInfo }
            if word == packed("observer") { return .observer }
            if word == packed("overflow") { return .overflow }
            if word == packed("protocol") { return .protocol }
            if word == packed("retained") { return .retained }
            return word == packed("features") ? .features : nil
        case 9:
            if word == packed("receiver") {
                key = .receivers
            } else if word == packed("protocol") {
                key = .protocols
            } else {
                return nil
            }
        case 10:
            guard word == packed("connecti") else { return nil }
            key = .connection
        case 18:
            guard word == packed("deliverI") else { return nil }
            key = .deliverImmediately
        default:
            return nil
        }
        let letters = key.text.utf8Start
        for index in 8..<count where bytes[index] != letters[index] { return nil }
        return key
    }
}

/// The first bytes of a text in one word, little end first, zeros behind.
///
/// `readable` bytes may be read from `bytes` on, so that a text followed by seven others takes one load.
@inline(always)
func leadingWord(_ bytes: UnsafePointer<UInt8>, count: Int, readable: Int) -> UInt64 {
    // SAFETY: 1 <= count <= 8 and count <= readable.
    if readable >= 8 {
        let word = UInt64(littleEndian: UnsafeRawPointer(bytes).loadUnaligned(as: UInt64.self))
        return count == 8 ? word : word & ((1 << UInt64(count &* 8)) &- 1)
    }
    var word: UInt64 = 0
    for index in 0..<count { word |= UInt64(bytes[index]) << UInt64(index &* 8) }
    return word
}

@inline(always)
func packed(_ text: StaticString) -> UInt64 {
    leadingWord(text.utf8Start, count: text.utf8CodeUnitCount, readable: text.utf8CodeUnitCount)
}
