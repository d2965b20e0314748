import TestSupport
import WireProtocol

@testable import BrokerCore

/// A frame of a broker as a test looks at it.
enum Told: Hashable {
    case notification(seq: UInt64)
    case retained(seq: UInt64)
    case gap(count: UInt64, first: UInt64, last: UInt64)
    case other(String)

    init(_ json: [UInt8]) throws {
        let opening = Array(#"{"type":"notification","seq":"#.utf8)
        if json.starts(with: opening) {
            let digits = json.dropFirst(opening.count).prefix { (0x30...0x39).contains($0) }
            let seq = UInt64(String(decoding: digits, as: UTF8.self)) ?? 0
            let isRetained = json.prefix(400).firstRange(of: Array(#","retained":true,"#.utf8)) != nil
            self = isRetained ? .retained(seq: seq) : .notification(seq: seq)
            return
        }
        guard json.starts(with: Array(#"{"type":"gap""#.utf8)) else {
            self = .other(String(decoding: json, as: UTF8.self))
            return
        }
        let value = try JSONValue(parsing: json)
        func number(_ key: String) -> UInt64 { UInt64(value[key]?.int ?? 0) }
        self = .gap(count: number("count"), first: number("first"), last: number("last"))
    }
}

/// The JSON texts of a stream that must hold whole frames only.
func texts(of stream: [UInt8]) throws -> [[UInt8]] {
    var texts: [[UInt8]] = []
    var rest = stream[...]
    while !rest.isEmpty {
        let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard rest.count >= 4 + length, length > 0 else {
            throw TestFailure("the stream ends within a frame")
        }
        texts.append(Array(rest.dropFirst(4).prefix(length)))
        rest = rest.dropFirst(4 + length)
    }
    return texts
}

func framed(_ json: some Sequence<UInt8>) -> [UInt8] {
    let json = Array(json)
    return (0..<4).map { UInt8(truncatingIfNeeded: json.count >> (24 - 8 * $0)) } + json
}

/// Makes notifications as the broker encodes them.
struct FrameMaker {
    static let sender = NotificationEncoder.Sender(connection: 1, pid: 2, uid: 3, gid: 4)
    private let encoder = NotificationEncoder()
    var seq: UInt64 { encoder.seq }

    /// `name` and `object` are JSON.
    func notification(_ name: String, object: String? = nil, userInfo: String? = nil) -> [UInt8] {
        _ = encoder.advance(time: 5, sender: Self.sender)
        let room = NotificationEncoder.overhead + name.utf8.count + (object ?? "").utf8.count
        return withUnsafeTemporaryAllocation(byteCount: room, alignment: 1) { memory in
            guard let start = memory.baseAddress else { return [] }
            let text = Array([name, object ?? "", userInfo ?? ""].joined().utf8)
            func span(_ start: Int, _ part: String?) -> FieldSpan {
                guard let part else { return .none }
                var span = FieldSpan.none
                (span.start, span.end) = (UInt32(start), UInt32(start + part.utf8.count))
                return span
            }
            let front = text.withUnsafeBytes { text in
                text.baseAddress.map {
                    encoder.encodeFront(
                        .init(
                            text: $0, name: span(0, name), object: span(name.utf8.count, object),
                            userInfo: span(name.utf8.count + (object ?? "").utf8.count, userInfo),
                            deliverImmediately: seq % 3 == 0),
                        to: start)
                } ?? 0
            }
            return Array(memory[..<front]) + Array("\(userInfo ?? "")}".utf8)
        }
    }

    func retained(_ name: String, userInfo: String) -> [UInt8] {
        _ = encoder.advance(time: 5, sender: Self.sender)
        return NotificationEncoder.retainedFront(
            seq: seq, time: 5, sender: Self.sender, name: Array(name.utf8), object: nil,
            deliverImmediately: seq % 2 == 0, observer: [0x6C], userInfoBytes: userInfo.utf8.count)
            + Array("\(userInfo)}".utf8)
    }
}
