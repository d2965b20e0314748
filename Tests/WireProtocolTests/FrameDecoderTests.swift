import TestSupport
import Testing
import WireProtocol

@Suite struct FrameDecoderTests {
    /// What a decoder said, frames copied.
    private enum Seen: Equatable {
        case frame([UInt8])
        case failed(FrameDecoder.FramingError)
    }

    private func prefixed(_ frame: [UInt8], length: UInt32? = nil) -> [UInt8] {
        let length = length ?? UInt32(frame.count)
        return (0..<4).map { UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * $0)) } + frame
    }

    private func storage(_ bytes: some Collection<UInt8>) -> ByteStorage {
        let storage = ByteStorage(capacity: bytes.count)
        UnsafeMutableRawBufferPointer(start: storage.base, count: bytes.count).copyBytes(from: bytes)
        return storage
    }

    private func load(_ bytes: some Collection<UInt8>, _ decoder: FrameDecoder) {
        decoder.load(storage(bytes), 0..<bytes.count)
    }

    /// Everything up to `needsMore` or a failure.
    private func drain(_ decoder: FrameDecoder, _ seen: inout [Seen]) -> Bool {
        while true {
            switch decoder.next() {
            case .frame(let bytes): seen.append(.frame([UInt8](bytes)))
            case .needsMore: return true
            case .failed(let error):
                seen.append(.failed(error))
                return false
            }
        }
    }

    /// Whatever the chunks, whether they are read where they lie, set aside half-way, or read to the decoder's own
    /// memory: the frames are the same.
    @Test(arguments: 1...40)
    func chunksMakeNoDifference(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let sizes = [1, 2, 3, 7, 40, 300, 511, 512, 513, 5000, 70_000]
        let frames = (0..<60).map { _ in
            [UInt8](repeating: UInt8(random.below(256)), count: 1 + random.below(random.pick(sizes)))
        }
        var stream = frames.flatMap { prefixed($0) }[...]
        let decoder = FrameDecoder(limit: 70_000)
        let largest = random.pick([1, 3, 5, 100, 4000, 100_000])
        var seen: [Seen] = []
        while !stream.isEmpty {
            if random.oneIn(2), let space = decoder.directSpace(atLeast: 1 + random.below(600)) {
                let count = min(stream.count, 1 + random.below(space.count))
                space.copyBytes(from: stream.prefix(count))
                decoder.didFillDirectly(count)
                stream = stream.dropFirst(count)
            } else {
                let chunk = stream.prefix(1 + random.below(largest))
                load(chunk, decoder)
                stream = stream.dropFirst(chunk.count)
            }
            while true {
                if random.oneIn(5) {
                    let before = decoder.buffered
                    decoder.stash()
                    #expect(decoder.buffered == before)
                }
                guard case .frame(let bytes) = decoder.next() else { break }
                seen.append(.frame([UInt8](bytes)))
            }
        }
        #expect(seen == frames.map { .frame($0) }, "seed \(seed)")
        #expect(decoder.isEmpty && decoder.buffered == 0)
    }

    @Test func everySplitOfTwoFrames() {
        let stream = prefixed([1, 2, 3]) + prefixed([4])
        for first in 0...stream.count {
            for second in first...stream.count {
                let decoder = FrameDecoder(limit: 10)
                var seen: [Seen] = []
                for chunk in [stream[..<first], stream[first..<second], stream[second...]] {
                    load(chunk, decoder)
                    #expect(drain(decoder, &seen))
                }
                #expect(seen == [.frame([1, 2, 3]), .frame([4])], "split at \(first) and \(second)")
            }
        }
    }

    @Test(arguments: [
        (0 as UInt32, FrameDecoder.FramingError.zeroLength), (11, .tooLarge(length: 11, limit: 10)),
        (.max, .tooLarge(length: 4_294_967_295, limit: 10)),
    ])
    func aWrongLengthIsAFailureBehindWhatCameBefore(length: UInt32, error: FrameDecoder.FramingError) {
        let stream = prefixed([9]) + prefixed([], length: length)
        for split in 0...stream.count {
            let decoder = FrameDecoder(limit: 10)
            var seen: [Seen] = []
            load(stream[..<split], decoder)
            if drain(decoder, &seen) {
                load(stream[split...], decoder)
                #expect(!drain(decoder, &seen))
            }
            #expect(seen == [.frame([9]), .failed(error)], "split at \(split)")
            #expect(decoder.directSpace(atLeast: 1) == nil)
        }
    }

    @Test func theLimitItselfIsAllowed() {
        let decoder = FrameDecoder(limit: 10)
        var seen: [Seen] = []
        load(prefixed([UInt8](repeating: 7, count: 10)), decoder)
        #expect(drain(decoder, &seen))
        #expect(seen == [.frame([UInt8](repeating: 7, count: 10))])
    }

    @Test func wholeFramesStayWhereTheyWereRead() {
        let decoder = FrameDecoder(limit: 100)
        let input = storage(prefixed([1]) + prefixed([2]) + [0, 0])
        decoder.load(input, 0..<input.capacity)
        for index in 1...2 {
            guard case .frame(let bytes) = decoder.next() else {
                Issue.record("no frame \(index)")
                return
            }
            #expect(bytes.baseAddress == UnsafeRawPointer(input.base) + index * 5 - 1)
            #expect(decoder.storage === input)
        }
        guard case .needsMore = decoder.next() else {
            Issue.record("more than two frames")
            return
        }
        load([0, 1, 3], decoder)
        guard case .frame = decoder.next() else {
            Issue.record("no third frame")
            return
        }
        #expect(decoder.storage !== input)
    }

    @Test func theRestOfALongFrameIsReadWithoutACopy() {
        let decoder = FrameDecoder(limit: 1000)
        #expect(decoder.directSpace(atLeast: 1) == nil)
        load(prefixed([UInt8](repeating: 5, count: 900))[..<10], decoder)
        var seen: [Seen] = []
        #expect(drain(decoder, &seen))
        #expect(decoder.directSpace(atLeast: 895) == nil)
        guard let space = decoder.directSpace(atLeast: 894) else {
            Issue.record("no space")
            return
        }
        #expect(space.count == 894)
        #expect(decoder.lastLength == 900 && decoder.buffered == 10 && !decoder.isEmpty)
        space.copyBytes(from: [UInt8](repeating: 5, count: 894))
        decoder.didFillDirectly(894)
        #expect(decoder.directSpace(atLeast: 0) == nil || decoder.directSpace(atLeast: 0)?.count == 0)
        #expect(drain(decoder, &seen))
        #expect(seen == [.frame([UInt8](repeating: 5, count: 900))])
    }

    @Test func resettingForgetsAll() {
        let decoder = FrameDecoder(limit: 100)
        load([0, 0, 0, 9, 1], decoder)
        decoder.reset()
        #expect(decoder.isEmpty)
        var seen: [Seen] = []
        load(prefixed([1]), decoder)
        #expect(drain(decoder, &seen))
        #expect(seen == [.frame([1])])
    }
}
