extension ReceivedNotification {
    /// What stands under a key of userInfo, which is given as bytes; of doubled keys the last. nil if there is none.
    package func member(_ key: [UInt8]) -> Member? {
        guard let range = userInfoRange else { return nil }
        return bytes.withUnsafeBytes { text in
            var found: FieldSpan?
            var members = JSONMembers(text, at: range)
            while let member = members.next() {
                let raw = UnsafeRawBufferPointer(rebasing: text[member.key])
                let isMeant =
                    member.keyIsEscaped ? JSONString.unescaped(raw) == key : raw.elementsEqual(key)
                if isMeant {
                    found = member.value
                }
            }
            return found.map { span in
                guard span.isString else { return .json([UInt8](text[span.range])) }
                return .string(JSONString.unescaped(UnsafeRawBufferPointer(rebasing: text[span.content])))
            }
        }
    }

    package enum Member: Hashable, Sendable {
        /// A string's text as UTF-8, unescaped.
        case string([UInt8])
        /// Any other value, as it was written.
        case json([UInt8])
    }
}
