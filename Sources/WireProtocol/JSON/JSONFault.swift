/// The first thing wrong with a JSON text, in the order of its bytes.
package struct JSONFault: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case invalid, utf8, tooDeep, notAnObject, duplicateMember
    }

    package var kind: Kind
    /// The byte offset in the JSON text.
    package var offset: Int
    package var detail: StaticDetail

    /// What was expected, as a fixed phrase.
    package enum StaticDetail: String, Hashable, Sendable {
        case value = "a value was expected"
        case end = "the text ends too early"
        case trailing = "only white space may follow the value"
        case key = "a member's name in quotes was expected"
        case colon = "a colon was expected"
        case commaOrBrace = "a comma or } was expected"
        case commaOrBracket = "a comma or ] was expected"
        case literal = "true, false or null was expected"
        case number = "a digit was expected"
        case control = "a control character must be escaped in a string"
        case escape = "this escape is unknown"
        case hex = "four hexadecimal digits were expected"
        case surrogate = "a surrogate escape has no partner"
        case byte = "this byte is not UTF-8"
        case depth = "the nesting is too deep"
        case object = "the frame is no object"
        case duplicate = "this member was there before"
    }

    package init(_ kind: Kind, at offset: Int, _ detail: StaticDetail) {
        self.kind = kind
        self.offset = offset
        self.detail = detail
    }

    /// The fault as the wire protocol tells it.
    package func protocolError(depth: Int) -> ProtocolError {
        switch kind {
        case .invalid: ProtocolError(.invalidJSON, "invalid JSON at byte \(offset): \(detail.rawValue)")
        case .utf8: ProtocolError(.invalidUTF8, "invalid UTF-8 at byte \(offset): \(detail.rawValue)")
        case .tooDeep:
            ProtocolError(
                .tooDeep, "nesting deeper than \(depth) levels at byte \(offset): the limit is \(depth)")
        case .notAnObject: ProtocolError(.notAnObject, "a frame must be a JSON object")
        case .duplicateMember:
            ProtocolError(.duplicateMember, "duplicate member at byte \(offset): \(detail.rawValue)")
        }
    }
}
