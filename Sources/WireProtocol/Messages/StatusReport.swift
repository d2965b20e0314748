/// The broker's figures, as it tells them to one client.
package struct StatusReport: Hashable, Sendable {
    package struct Client: Hashable, Sendable {
        package var pid: UInt64 = 0
        package var uid: UInt64 = 0
        /// The kernel's name of that pid.
        package var program: String?
        /// What it calls itself.
        package var client: String?
        package var observers: UInt64 = 0
        package var posted: UInt64 = 0
        package var delivered: UInt64 = 0
        package var dropped: UInt64 = 0
        package var queuedBytes: UInt64 = 0
        package var isPaused = false
    }

    /// The frame's JSON, without the length.
    package let bytes: [UInt8]
    package let id: UInt64
    package private(set) var version = ""
    package private(set) var instance = ""
    /// Members that are numbers, by their names.
    private var figures: [String: UInt64] = [:]
    package private(set) var clients: [Client] = []

    package func figure(_ name: String) -> UInt64 { figures[name] ?? 0 }

    init(bytes: [UInt8], id: UInt64) {
        self.bytes = bytes
        self.id = id
        bytes.withUnsafeBytes { text in
            var members = JSONMembers(text, at: 0..<text.count)
            while let member = members.next() {
                read(member, in: text)
            }
        }
    }

    private mutating func read(_ member: JSONMembers.Member, in text: UnsafeRawBufferPointer) {
        let value = member.value
        switch (member.name(in: text), value.kind) {
        case ("version", _): version = value.string(in: text) ?? ""
        case ("instance", _): instance = value.string(in: text) ?? ""
        case ("clients", .array):
            var elements = JSONMembers(text, at: value.range)
            while let element = elements.next() {
                clients.append(Client(text, at: element.value))
            }
        case (let name, .number):
            figures[name] = JSONNumber.unsigned(UnsafeRawBufferPointer(rebasing: text[value.range]))
        case (_, _): break
        }
    }
}

extension StatusReport.Client {
    fileprivate init(_ text: UnsafeRawBufferPointer, at span: FieldSpan) {
        self.init()
        var members = JSONMembers(text, at: span.range)
        while let member = members.next() {
            let value = member.value
            switch member.name(in: text) {
            case "pid": pid = value.number(in: text) ?? 0
            case "uid": uid = value.number(in: text) ?? 0
            case "program": program = value.string(in: text)
            case "client": client = value.string(in: text)
            case "observers": observers = value.number(in: text) ?? 0
            case "posted": posted = value.number(in: text) ?? 0
            case "delivered": delivered = value.number(in: text) ?? 0
            case "dropped": dropped = value.number(in: text) ?? 0
            case "queuedBytes": queuedBytes = value.number(in: text) ?? 0
            case "paused": isPaused = value.kind == .yes
            default: break
            }
        }
    }
}

extension JSONMembers.Member {
    func name(in text: UnsafeRawBufferPointer) -> String {
        String(decoding: JSONString.unescaped(UnsafeRawBufferPointer(rebasing: text[key])), as: UTF8.self)
    }
}

extension FieldSpan {
    func string(in text: UnsafeRawBufferPointer) -> String? {
        guard isString else { return nil }
        let raw = UnsafeRawBufferPointer(rebasing: text[content])
        return kind == .string
            ? String(decoding: raw, as: UTF8.self)
            : String(decoding: JSONString.unescaped(raw), as: UTF8.self)
    }

    func number(in text: UnsafeRawBufferPointer) -> UInt64? {
        guard kind == .number else { return nil }
        return JSONNumber.unsigned(UnsafeRawBufferPointer(rebasing: text[range]))
    }
}
