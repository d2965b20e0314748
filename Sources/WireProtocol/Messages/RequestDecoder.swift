/// Reads a client's frame: which request it is, and whether it has the members that its type may have, each of the right
/// kind. The lengths and characters of names are checked where they are used.
package struct RequestDecoder {
    /// A request that was refused, with its id if it had a valid one.
    package struct Refusal: Error {
        package var id: UInt64?
        package var error: ProtocolError
    }

    private let scanner: FrameScanner
    private let text: UnsafeRawBufferPointer

    /// Reads what `scanner` has found in `text`.
    package init(_ scanner: FrameScanner, text: UnsafeRawBufferPointer) {
        self.scanner = scanner
        self.text = text
    }

    /// The frame's id, if it has one: an integer from 0 to 2^53-1, in digits only.
    package func id() throws(ProtocolError) -> UInt64? {
        guard let span = scanner[.id] else { return nil }
        return try validID(span)
    }

    private func validID(_ span: FieldSpan) throws(ProtocolError) -> UInt64 {
        guard span.kind == .number, let id = JSONNumber.unsigned(bytes(span.range)), id <= Limits.greatestID
        else { throw invalid(.id, "must be an integer from 0 to 9007199254740991") }
        return id
    }

    /// The request, or why it is refused. Faults are named in this order: the type, members that it doesn't have, missing
    /// members, members of the wrong kind.
    package func request() throws(Refusal) -> Request {
        let id: UInt64?
        let idError: ProtocolError?
        do throws(ProtocolError) {
            id = try self.id()
            idError = nil
        } catch {
            id = nil
            idError = error
        }
        do throws(ProtocolError) {
            let type = try type()
            if let idError { throw idError }
            try checkMembers(of: type, hasID: id != nil)
            return try decode(type)
        } catch {
            throw Refusal(id: id, error: error)
        }
    }

    private enum Kind: String, CaseIterable {
        case hello, post, addObserver, removeObserver, awaitObservers, ping, status, stop

        var members: [MemberKey] {
            switch self {
            case .hello: [.protocol, .client, .features]
            case .post: [.name, .object, .userInfo, .deliverImmediately, .retain]
            case .addObserver: [.observer, .name, .match, .object, .overflow]
            case .removeObserver: [.observer]
            case .awaitObservers: [.name, .object, .count]
            case .ping, .stop: []
            case .status: [.detail]
            }
        }

        var needed: [MemberKey] {
            switch self {
            case .hello: [.protocol]
            case .post: [.name]
            case .addObserver, .removeObserver: [.observer]
            case .awaitObservers: [.id, .name, .count]
            case .status: [.id]
            case .ping, .stop: []
            }
        }
    }

    private static func mask(_ keys: [MemberKey]) -> UInt32 {
        keys.reduce(1 << UInt32(MemberKey.type.rawValue) | 1 << UInt32(MemberKey.id.rawValue)) {
            $0 | 1 << UInt32($1.rawValue)
        }
    }

    private func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: text[range])
    }

    private func type() throws(ProtocolError) -> Kind {
        guard let span = scanner.span(.type) else {
            throw ProtocolError(.missingMember, "the member \"type\" is missing")
        }
        guard span.isString else { throw invalid(.type, "must be a string") }
        let plain = string(span)
        guard let kind = Kind(rawValue: String(decoding: plain, as: UTF8.self)) else {
            throw ProtocolError(
                .unknownType, "the type \(quoted(plain)) at byte \(span.start) is none that a client may send"
            )
        }
        return kind
    }

    private func checkMembers(of kind: Kind, hasID: Bool) throws(ProtocolError) {
        if let range = scanner.firstUnknown {
            throw ProtocolError(
                .unknownMember,
                "the member \(quoted(JSONString.unescaped(bytes(range)))) at byte \(range.lowerBound - 1) is unknown"
            )
        }
        let foreign = scanner.presentKeys & ~Self.mask(kind.members)
        if foreign != 0, let key = MemberKey(rawValue: UInt8(foreign.trailingZeroBitCount)) {
            throw ProtocolError(
                .unknownMember, "a frame of type \"\(kind.rawValue)\" has no member \"\(key.text)\"")
        }
        for key in kind.needed where scanner.span(key) == nil || (key == .id && !hasID) {
            throw ProtocolError(
                .missingMember, "a frame of type \"\(kind.rawValue)\" needs the member \"\(key.text)\"")
        }
    }

    private func decode(_ kind: Kind) throws(ProtocolError) -> Request {
        switch kind {
        case .hello: .hello(try hello())
        case .post: .post(try post())
        case .addObserver: .addObserver(try addObserver())
        case .removeObserver: .removeObserver(label: try neededString(.observer))
        case .awaitObservers: .awaitObservers(try awaitObservers())
        case .ping: .ping
        case .status: .status(detail: try flag(.detail))
        case .stop: .stop
        }
    }

    private func hello() throws(ProtocolError) -> Request.Hello {
        guard let version = scanner.span(.protocol), version.kind == .number,
            let number = JSONNumber.unsigned(bytes(version.range))
        else { throw invalid(.protocol, "must be an integer") }
        if number != 1 {
            throw ProtocolError(.unsupportedProtocol, "protocol \(number) is not spoken here: only 1 is")
        }
        let client = try optionalString(.client)
        if let features = scanner[.features] { try check(features: features) }
        return Request.Hello(client: client, namesFeatures: scanner[.features] != nil)
    }

    private func check(features: FieldSpan) throws(ProtocolError) {
        guard features.kind == .array else { throw invalid(.features, "must be an array of strings") }
        var elements = JSONMembers(text, at: features.range)
        var count = 0
        while let element = elements.next() {
            count += 1
            guard element.value.isString else { throw invalid(.features, "must be an array of strings") }
            let length = string(element.value).count
            guard (1...Limits.featureBytes).contains(length) else {
                throw invalid(
                    .features,
                    "has a string of \(length) bytes: each must have 1 to \(Limits.featureBytes)")
            }
        }
        if count > Limits.features {
            throw invalid(.features, "has \(count) strings: at most \(Limits.features) are allowed")
        }
    }

    private func post() throws(ProtocolError) -> Request.Post {
        let name = try neededString(.name)
        let object = try optionalString(.object)
        let userInfo = scanner[.userInfo]
        if let userInfo, userInfo.kind != .object { throw invalid(.userInfo, "must be an object or null") }
        return Request.Post(
            name: name, object: object, userInfo: userInfo, deliverImmediately: try flag(.deliverImmediately),
            retain: try retain())
    }

    private func retain() throws(ProtocolError) -> Request.Retain {
        guard let span = scanner[.retain] else { return .no }
        switch span.kind {
        case .yes: return .keep
        case .no: return .no
        case .string, .escapedString:
            if string(span).elementsEqual("clear".utf8) { return .clear }
        case .object, .array, .number, .null: break
        }
        throw invalid(.retain, "must be true, false or \"clear\"")
    }

    private func addObserver() throws(ProtocolError) -> Request.AddObserver {
        let label = try neededString(.observer)
        let name = try optionalString(.name)
        let match = try optionalString(.match)
        let subject: Request.Subject
        switch (name, match) {
        case (nil, nil): subject = .everything
        case (let name?, nil): subject = .name(name)
        case (nil, let pattern?): subject = .pattern(pattern)
        case (_?, _?):
            throw ProtocolError(
                .invalidMember, "an observer has either \"name\" or \"match\"; this one has both")
        }
        var overflow = Overflow.wait
        if let span = try optionalString(.overflow) {
            guard let policy = Overflow(rawValue: String(decoding: string(span), as: UTF8.self)) else {
                throw invalid(.overflow, "must be \"wait\", \"drop\" or \"coalesce\"")
            }
            overflow = policy
        }
        return Request.AddObserver(
            label: label, subject: subject, object: try optionalString(.object), overflow: overflow)
    }

    private func awaitObservers() throws(ProtocolError) -> Request.AwaitObservers {
        let name = try neededString(.name)
        let object = try optionalString(.object)
        guard let span = scanner.span(.count), span.kind == .number,
            let count = JSONNumber.unsigned(bytes(span.range)),
            (1...Limits.awaitedObservers).contains(Int(clamping: count))
        else { throw invalid(.count, "must be an integer from 1 to \(Limits.awaitedObservers)") }
        return Request.AwaitObservers(name: name, object: object, count: Int(count))
    }

    private func neededString(_ key: MemberKey) throws(ProtocolError) -> FieldSpan {
        guard let span = scanner.span(key), span.isString else { throw invalid(key, "must be a string") }
        return span
    }

    private func optionalString(_ key: MemberKey) throws(ProtocolError) -> FieldSpan? {
        guard let span = scanner[key] else { return nil }
        guard span.isString else { throw invalid(key, "must be a string or null") }
        return span
    }

    private func flag(_ key: MemberKey) throws(ProtocolError) -> Bool {
        guard let span = scanner[key] else { return false }
        switch span.kind {
        case .yes: return true
        case .no: return false
        case .object, .array, .string, .escapedString, .number, .null:
            throw invalid(key, "must be true or false")
        }
    }

    private func invalid(_ key: MemberKey, _ what: String) -> ProtocolError {
        let place = scanner.span(key).map { " at byte \($0.start)" } ?? ""
        return ProtocolError(.invalidMember, "the member \"\(key.text)\"\(place) \(what)")
    }

    private func string(_ span: FieldSpan) -> [UInt8] {
        JSONString.unescaped(bytes(span.content))
    }

    /// A text of the client's for a message: in quotes, and not longer than a message should be.
    private func quoted(_ plain: [UInt8]) -> String {
        let shown = String(decoding: plain.prefix(64), as: UTF8.self)
        return plain.count > 64 ? "\"\(shown)...\" (\(plain.count) bytes)" : "\"\(shown)\""
    }
}
