import TestSupport
import Testing
import WireProtocol

@testable import BrokerCore

@Suite struct FrameLedgerTests {
    @Test(arguments: 1...10)
    func countsWhatEndedHoweverItIsWritten(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let maker = FrameMaker()
        var ledger = FrameLedger()
        for _ in 0..<200 {
            let frames = (0...random.below(4)).map { _ in
                random.oneIn(3) ? FrameWriter("ok").finish() : maker.notification("\"n\"", userInfo: "{}")
            }
            // Written up to anywhere behind a header; the rest goes with the next piece.
            var position = 0
            let stream = Array(frames.joined())
            var ended = 0
            while position < stream.count {
                let count = min(stream.count - position, 1 + random.below(200))
                ended += stream.withUnsafeBytes { bytes in
                    bytes.baseAddress.map { ledger.advance($0 + position, by: count) } ?? 0
                }
                position += count
            }
            #expect(ledger.isAtBoundary)
            #expect(ended == frames.count { $0[13] == UInt8(ascii: "n") }, "seed \(seed)")
        }
    }
}
