/// The codes of an `error` frame.
package enum ErrorCode: String, Hashable, Sendable, CaseIterable {
    case invalidLength = "invalid-length"
    case frameTooLarge = "frame-too-large"
    case frameTimeout = "frame-timeout"
    case invalidJSON = "invalid-json"
    case invalidUTF8 = "invalid-utf8"
    case tooDeep = "too-deep"
    case notAnObject = "not-an-object"
    case duplicateMember = "duplicate-member"
    case unknownMember = "unknown-member"
    case missingMember = "missing-member"
    case invalidMember = "invalid-member"
    case unknownType = "unknown-type"
    case unsupportedProtocol = "unsupported-protocol"
    case observerExists = "observer-exists"
    case noSuchObserver = "no-such-observer"
    case limitExceeded = "limit-exceeded"
    case notPermitted = "not-permitted"
}

/// Why a frame was refused: the code for programs, and a sentence that says what was wrong and where or by how much.
package struct ProtocolError: Error, Hashable, Sendable {
    package var code: ErrorCode
    package var message: String

    package init(_ code: ErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// Why a broker ends a connection.
package enum GoodbyeReason: String, Hashable, Sendable, CaseIterable {
    case shuttingDown = "shutting-down"
    case slowReceiver = "slow-receiver"
    case refused
    case protocolError = "protocol-error"
}
