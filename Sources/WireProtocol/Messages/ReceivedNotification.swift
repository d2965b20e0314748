/// A notification as it came from the broker: the frame's own bytes, checked, and where its members lie in them.
/// Strings are unescaped when they are asked for.
package struct ReceivedNotification: Sendable {
    package struct Sender: Hashable, Sendable {
        package var connection: UInt64 = 0
        package var pid: Int32 = 0
        package var uid: UInt32 = 0
        package var gid: UInt32 = 0

        package init() {}
    }

    /// The frame's JSON, without the length.
    package let bytes: [UInt8]
    package let seq: UInt64
    /// Microseconds since 1970-01-01 UTC.
    package let time: UInt64
    package let sender: Sender
    package let deliversImmediately: Bool
    package let isRetained: Bool

    let nameSpan: FieldSpan
    let objectSpan: FieldSpan?
    let observerSpan: FieldSpan?
    let userInfoSpan: FieldSpan?

    package var name: String { string(nameSpan) }
    package var nameBytes: [UInt8] { text(nameSpan) }

    package var object: String? { objectSpan.map(string) }
    package var objectBytes: [UInt8]? { objectSpan.map(text) }

    /// Whom a retained one is for.
    package var observer: String? { observerSpan.map(string) }

    /// Where the poster's userInfo, one JSON object, lies in `bytes`.
    package var userInfoRange: Range<Int>? { userInfoSpan?.range }
    package var userInfo: ArraySlice<UInt8>? { userInfoSpan.map { bytes[$0.range] } }

    private func string(_ span: FieldSpan) -> String {
        guard span.kind == .escapedString else { return String(decoding: bytes[span.content], as: UTF8.self) }
        return String(decoding: text(span), as: UTF8.self)
    }

    private func text(_ span: FieldSpan) -> [UInt8] {
        let raw = bytes[span.content]
        guard span.kind == .escapedString else { return [UInt8](raw) }
        return raw.withUnsafeBytes(JSONString.unescaped)
    }
}
