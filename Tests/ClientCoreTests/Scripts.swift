import TestSupport
import WireProtocol

@testable import ClientCore

extension ClientSession {
    /// Plays the broker's side: a frame's JSON text comes in.
    mutating func receive(_ json: String) throws -> ClientEvent? {
        let decoder = BrokerMessageDecoder()
        let message = try Array(json.utf8).withUnsafeBytes { try decoder.decode($0) }
        return receive(message)
    }

    /// The JSON texts of the frames that go out now.
    mutating func takeAll() -> [String] {
        let texts = withUnsent { frames(in: $0) }
        kernelTook(unsentCount)
        return texts
    }

    /// An answer to each observer that was said, as the broker would give it.
    mutating func confirmObservers(among frames: [String]) throws -> [ClientEvent] {
        try frames.filter { $0.contains("addObserver") }.compactMap { frame in
            try receive("{\"type\":\"ok\",\"id\":\(number(after: "\"id\":", in: frame))}")
        }
    }

    mutating func end(at now: UInt64 = 0) -> ConnectionEnd {
        var generator = SeededGenerator(seed: 1)
        return connectionEnded(at: now, using: &generator)
    }
}

func frames(in bytes: some Collection<UInt8>) -> [String] {
    var rest = Array(bytes)[...]
    var texts: [String] = []
    while rest.count >= 4 {
        let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        texts.append(String(decoding: rest.dropFirst(4).prefix(length), as: UTF8.self))
        rest = rest.dropFirst(4 + length)
    }
    return texts
}

func number(after mark: String, in text: String) -> String {
    guard let range = text.firstRange(of: mark) else { return "" }
    return String(text[range.upperBound...].prefix { $0.isNumber })
}

func notification(_ seq: Int, _ name: String = "N", more: String = "") -> String {
    "{\"type\":\"notification\",\"seq\":\(seq),\"time\":1,\"name\":\"\(name)\"\(more)}"
}

func welcome(_ instance: String) -> String {
    "{\"type\":\"welcome\",\"protocol\":1,\"broker\":{\"version\":\"1\",\"instance\":\"\(instance)\"}}"
}

extension ClientEvent {
    var receivers: [UInt64]? {
        guard case .notification(_, let observers) = self else { return nil }
        return observers.map(\.number)
    }
}
