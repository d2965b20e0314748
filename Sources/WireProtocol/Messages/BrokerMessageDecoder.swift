/// Reads the broker's frames. What is no valid JSON object, or lacks what its type must have, is an error: it was
/// not a broker that wrote it.
package final class BrokerMessageDecoder {
    private let scanner = FrameScanner(depth: 256)
    /// The last sender, and how it was written: mostly the next one is the same.
    private var lastSender = ReceivedNotification.Sender()
    private var lastSenderText: [UInt8] = []

    package init() {}

    /// Takes one frame's JSON text, without the length.
    package func decode(
        _ text: UnsafeRawBufferPointer
    ) throws(BrokerMessageError) -> BrokerMessage {
        if case .fault(let fault) = scanner.scan(text) {
            throw BrokerMessageError("its answer is no frame: \(fault.protocolError(depth: 256).message)")
        }
        guard let type = scanner[.type], type.isString else {
            throw BrokerMessageError("its answer has no type")
        }
        guard type.kind == .string else {
            return try decode(text, type: type.string(in: text) ?? "")
        }
        // SAFETY: the scanner's spans lie within the text that it has just scanned.
        let raw = UnsafeRawBufferPointer(rebasing: text[type.content])
        return Self.isNotification(raw)
            ? .notification(try notification(text))
            : try decode(text, type: String(decoding: raw, as: UTF8.self))
    }

    private static func isNotification(_ type: UnsafeRawBufferPointer) -> Bool {
        let word: StaticString = "notification"
        return equalBytes(type, UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }

    private func decode(
        _ text: UnsafeRawBufferPointer, type: String
    ) throws(BrokerMessageError) -> BrokerMessage {
        switch type {
        case "notification": .notification(try notification(text))
        case "ok":
            .ok(
                Acknowledgement(
                    bytes: [UInt8](text), id: try required(.id, type, text),
                    seq: try number(.seq, type, text),
                    receivers: try number(.receivers, type, text)))
        case "error":
            .error(
                Refusal(
                    id: try number(.id, type, text), code: code(string(.code, text) ?? ""),
                    message: string(.message, text) ?? ""))
        case "gap":
            .gap(
                Gap(
                    bytes: [UInt8](text), count: try required(.count, type, text),
                    first: try required(.first, type, text), last: try required(.last, type, text)))
        case "welcome": .welcome(try welcome(text))
        case "status": .status(StatusReport(bytes: [UInt8](text), id: try required(.id, type, text)))
        case "goodbye":
            .goodbye(
                Goodbye(
                    reason: string(.reason, text).flatMap(GoodbyeReason.init(rawValue:)),
                    message: string(.message, text) ?? ""))
        default: .unknown
        }
    }

    private func notification(
        _ text: UnsafeRawBufferPointer
    ) throws(BrokerMessageError) -> ReceivedNotification {
        guard let name = scanner[.name], name.isString else {
            throw BrokerMessageError("its notification has no name")
        }
        if let info = scanner[.userInfo], info.kind != .object {
            throw BrokerMessageError("its notification has a userInfo that is no object")
        }
        for key in [MemberKey.object, .observer] {
            if let span = scanner[key], !span.isString {
                throw BrokerMessageError("its notification has a wrong \(key.text)")
            }
        }
        return ReceivedNotification(
            bytes: [UInt8](text), seq: try required(.seq, "notification", text),
            time: try number(.time, "notification", text) ?? 0, sender: sender(text),
            deliversImmediately: scanner[.deliverImmediately]?.kind == .yes,
            isRetained: scanner[.retained]?.kind == .yes, nameSpan: name, objectSpan: scanner[.object],
            observerSpan: scanner[.observer], userInfoSpan: scanner[.userInfo])
    }

    private func sender(_ text: UnsafeRawBufferPointer) -> ReceivedNotification.Sender {
        var sender = ReceivedNotification.Sender()
        guard let span = scanner[.sender], span.kind == .object else { return sender }
        let raw = UnsafeRawBufferPointer(rebasing: text[span.range])
        if lastSenderText.withUnsafeBytes({ equalBytes($0, raw) }) { return lastSender }
        defer {
            lastSender = sender
            lastSenderText = [UInt8](raw)
        }
        var members = JSONMembers(text, at: span.range)
        while let member = members.next() {
            guard let value = member.value.number(in: text), let initial = text[member.key].first else {
                continue
            }
            switch (initial, member.key.count) {
            case (UInt8(ascii: "c"), 10): sender.connection = value
            case (UInt8(ascii: "p"), 3): sender.pid = Int32(truncatingIfNeeded: value)
            case (UInt8(ascii: "u"), 3): sender.uid = UInt32(truncatingIfNeeded: value)
            case (UInt8(ascii: "g"), 3): sender.gid = UInt32(truncatingIfNeeded: value)
            default: break
            }
        }
        return sender
    }

    private func welcome(_ text: UnsafeRawBufferPointer) throws(BrokerMessageError) -> Welcome {
        guard try required(.protocol, "welcome", text) == 1 else {
            throw BrokerMessageError("it speaks another version of the protocol than 1")
        }
        var welcome = Welcome(
            id: try number(.id, "welcome", text), version: "", instance: "",
            connection: try number(.connection, "welcome", text) ?? 0,
            seq: try number(.seq, "welcome", text) ?? 0, limits: Limits())
        if let broker = scanner[.broker], broker.kind == .object {
            var members = JSONMembers(text, at: broker.range)
            while let member = members.next() {
                switch member.name(in: text) {
                case "version": welcome.version = member.value.string(in: text) ?? ""
                case "instance": welcome.instance = member.value.string(in: text) ?? ""
                default: break
                }
            }
        }
        if let limits = scanner[.limits], limits.kind == .object {
            var members = JSONMembers(text, at: limits.range)
            while let member = members.next() {
                guard let value = member.value.number(in: text).flatMap(Int.init(exactly:)) else { continue }
                switch member.name(in: text) {
                case "frameBytes": welcome.limits.frameBytes = value
                case "nameBytes": welcome.limits.nameBytes = value
                case "objectBytes": welcome.limits.objectBytes = value
                case "depth": welcome.limits.depth = value
                case "queueBytes": welcome.limits.queueBytes = value
                case "observers": welcome.limits.observers = value
                default: break
                }
            }
        }
        return welcome
    }

    private func code(_ text: String) -> Refusal.Code {
        ErrorCode(rawValue: text).map(Refusal.Code.known) ?? .unknown(text)
    }

    private func string(_ key: MemberKey, _ text: UnsafeRawBufferPointer) -> String? {
        scanner[key]?.string(in: text)
    }

    private func number(
        _ key: MemberKey, _ type: String, _ text: UnsafeRawBufferPointer
    ) throws(BrokerMessageError) -> UInt64? {
        guard let span = scanner[key] else { return nil }
        guard let number = span.number(in: text) else {
            throw BrokerMessageError("its \(type) has a wrong \(key.text)")
        }
        return number
    }

    private func required(
        _ key: MemberKey, _ type: String, _ text: UnsafeRawBufferPointer
    ) throws(BrokerMessageError) -> UInt64 {
        guard let number = try number(key, type, text) else {
            throw BrokerMessageError("its \(type) has no \(key.text)")
        }
        return number
    }
}
