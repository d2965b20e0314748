import Testing
import WireProtocol

@testable import BrokerCore

@Suite struct NotificationKeysTests {
    private func key(_ frame: [UInt8]) -> UInt64? {
        let keys = NotificationKeys(hash: ByteHash(seed: 9))
        return frame.withUnsafeBytes { keys.key(of: $0)?.hash }
    }

    @Test func nameAndObjectMakeTheKey() {
        let maker = FrameMaker()
        let plain = key(maker.notification(#""A""#))
        #expect(plain == key(maker.notification(#""\u0041""#, userInfo: #"{"object":"o"}"#)))
        #expect(plain != key(maker.notification(#""B""#)))
        #expect(plain != key(maker.notification(#""A""#, object: #""""#)))
        let withObject = key(maker.notification(#""A""#, object: #""o\"""#))
        #expect(
            withObject == key(maker.notification(#""\u0041""#, object: #""\u006f\u0022""#, userInfo: "{}")))
        #expect(withObject != key(maker.notification(#""o\"""#, object: #""A""#)))
    }

    @Test func seqIsRead() {
        let maker = FrameMaker()
        let keys = NotificationKeys(hash: ByteHash(seed: 9))
        for seq in 1...UInt64(120) {
            maker.notification(#""A""#).withUnsafeBytes { #expect(keys.key(of: $0)?.seq == seq) }
        }
    }

    @Test func aRetainedOneIsReplacedByNothing() {
        let maker = FrameMaker()
        for _ in 0..<2 { #expect(key(maker.retained(#""A""#, userInfo: "{}")) == nil) }
    }
}
