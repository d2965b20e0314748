/// What a client asks the broker to relay, as the frame that does it, without an id.
package struct Post: Sendable {
    package enum Retention: Hashable, Sendable {
        case none
        /// The broker keeps it for later observers of its name and object.
        case keep
        /// The broker forgets what it keeps under this name and object.
        case clear
    }

    /// Where an id belongs: before the name.
    static let idOffset = 18

    package let name: String
    package let retention: Retention
    /// Length and all.
    package let frame: [UInt8]

    /// What counts for the broker's limit, sent with this id or with none.
    package func frameBytes(id: UInt64?) -> Int {
        frame.count - 4 + (id.map { #","id":\#($0)"#.utf8.count } ?? 0)
    }

    /// Whether it nests deeper than that; the frame's own object is the first level.
    package func isDeeper(than limit: Int) -> Bool {
        // Each level takes two bytes: most posts are too short to be looked at.
        guard frame.count - 4 > 2 * limit else { return false }
        return frame.withUnsafeBytes { frame in
            let text = UnsafeRawBufferPointer(rebasing: frame[4...])
            let opened = text.reduce(0) { $0 + ($1 | 0x20 == UInt8(ascii: "{") ? 1 : 0) }
            return opened > limit && JSONText.fault(in: text, depth: limit)?.kind == .tooDeep
        }
    }

    /// `appendUserInfo` appends one JSON object, complete and valid, or nothing.
    package init<Failure: Error>(
        name: String, object: String?, deliversImmediately: Bool, retention: Retention,
        appendUserInfo: (inout [UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        self.name = name
        self.retention = retention
        var frame: [UInt8] = []
        frame.reserveCapacity(192)
        JSONString.append(
            name, between: "\0\0\0\0{\"type\":\"post\",\"name\":\"", and: "\"", to: &frame)
        if let object {
            JSONString.append(object, between: ",\"object\":\"", and: "\"", to: &frame)
        }
        if deliversImmediately { frame.append(literal: ",\"deliverImmediately\":true") }
        switch retention {
        case .none: break
        case .keep: frame.append(literal: ",\"retain\":true")
        case .clear: frame.append(literal: ",\"retain\":\"clear\"")
        }
        let end = frame.count
        frame.append(literal: ",\"userInfo\":")
        let start = frame.count
        try appendUserInfo(&frame)
        if frame.count == start { frame.removeLast(start - end) }
        RequestEncoder.end(0, &frame)
        self.frame = frame
    }

    /// `userInfo` is one JSON object, complete and valid: it goes into the frame as it is.
    package init(
        name: String, object: String? = nil, userInfo: [UInt8]? = nil, deliversImmediately: Bool = false,
        retention: Retention = .none
    ) {
        self.init(name: name, object: object, deliversImmediately: deliversImmediately, retention: retention)
        {
            if let userInfo { $0.append(contentsOf: userInfo) }
        }
    }
}
