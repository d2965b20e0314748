import WireProtocol

/// Posts of one sender in a row, encoded once: before a batch is sent only the digits in its frames change.
final class PostBatch {
    private let frameCount: Int
    private let total: Int
    private let sender: Int
    private let frameBytes: Int
    private let names: Int
    private let stampOffset: Int
    /// Eight digits, or a whole stamp.
    private let nameOffset: Int?
    private let nameIsStamp: Bool
    private let idOffset: Int?
    private let memory: ByteStorage
    private var firstNumber = 0
    private var framesInUse = 0
    private var written = 0

    /// What one batch of all senders takes together, and one alone at most.
    private static let mostBytes = 64 << 20
    private static let batchBytes = 128 << 10

    /// `base` plus a post's number is its `id`: always as many digits.
    static let idBase: UInt64 = 1_000_000_000_000

    init(_ plan: Plan, sender: Int, total: Int, framesAtOnce: Int = .max) {
        let frame = Self.template(plan)
        let size = plan.figures.size
        self.sender = sender
        self.total = total
        frameBytes = frame.count
        let room = min(Self.batchBytes, Self.mostBytes / max(1, plan.figures.senders))
        frameCount = max(1, min(total, framesAtOnce, room / frame.count))
        stampOffset = frame.count - 1 - size + UserInfo.stampOffset
        idOffset = plan.asksForAnswers ? Self.offset(after: "\"id\":1", in: frame) : nil
        let nameEnd = Self.offset(after: "\"name\":\"\(plan.subject).", in: frame)
        switch plan.naming {
        case .single: (nameOffset, nameIsStamp, names) = (nil, false, 1)
        case .rotating(let names): (nameOffset, nameIsStamp, self.names) = (nameEnd, false, names)
        case .fresh: (nameOffset, nameIsStamp, names) = (nameEnd, true, 1)
        }
        memory = ByteStorage(capacity: frameCount * frame.count)
        for index in 0..<frameCount {
            (memory.base + index * frame.count).copyMemory(from: frame, byteCount: frame.count)
        }
        prepare()
    }

    private static func template(_ plan: Plan) -> [UInt8] {
        let post = Post(
            name: plan.name(ofPlaceholder: "0"), userInfo: UserInfo.bytes(size: plan.figures.size),
            retention: plan.retains ? .keep : .none)
        var frame: [UInt8] = []
        RequestEncoder.post(post, id: plan.asksForAnswers ? idBase : nil, to: &frame)
        return frame
    }

    private static func offset(after text: String, in frame: [UInt8]) -> Int? {
        let text = Array(text.utf8)
        guard frame.count >= text.count else { return nil }
        let start = (0...(frame.count - text.count)).first {
            frame[$0..<($0 + text.count)].elementsEqual(text)
        }
        return start.map { $0 + text.count }
    }

    /// What is still to be written of the posts that are ready; empty when all posts were written.
    var rest: UnsafeRawBufferPointer {
        memory.bytes(written..<(framesInUse * frameBytes))
    }

    /// The kernel took so many bytes; answers how many posts are through when a batch is.
    func advance(by count: Int) -> Int {
        written += count
        guard written == framesInUse * frameBytes else { return 0 }
        let done = framesInUse
        firstNumber += done
        prepare()
        return done
    }

    private func prepare() {
        written = 0
        framesInUse = min(frameCount, total - firstNumber)
        var text = Stamp(sender: sender, number: firstNumber).text
        for index in 0..<framesInUse {
            let number = firstNumber + index
            // Only each tenth number changes more than the last digit.
            if number % 10 == 0 { text = Stamp(sender: sender, number: number).text }
            // SAFETY: every offset was found in the frame that each `frameBytes` of the memory hold, digits behind it.
            let frame = memory.base + index * frameBytes
            Self.store(text, to: frame + stampOffset)
            if let nameOffset {
                if nameIsStamp {
                    Self.store(text, to: frame + nameOffset)
                } else {
                    let name = Digits.text(number % names)
                    frame.storeBytes(of: name.bigEndian, toByteOffset: nameOffset, as: UInt64.self)
                }
            }
            if let idOffset { Self.store(number: number, to: frame + idOffset) }
            text.low &+= 1
        }
    }

    private static func store(_ text: (high: UInt64, low: UInt64), to place: UnsafeMutableRawPointer) {
        place.storeBytes(of: text.high.bigEndian, as: UInt64.self)
        place.storeBytes(of: text.low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }

    /// The twelve digits of an `id` behind its leading one.
    private static func store(number: Int, to place: UnsafeMutableRawPointer) {
        let (high, low) = number.quotientAndRemainder(dividingBy: Digits.bound)
        place.storeBytes(of: UInt32(truncatingIfNeeded: Digits.text(high)).bigEndian, as: UInt32.self)
        place.storeBytes(of: Digits.text(low).bigEndian, toByteOffset: 4, as: UInt64.self)
    }
}

/// `{"data":"` stamp, filling `"}`
enum UserInfo {
    static let stampOffset = 9

    static func bytes(size: Int) -> [UInt8] {
        var bytes = Array("{\"data\":\"".utf8)
        bytes += [UInt8](repeating: UInt8(ascii: "0"), count: Stamp.width)
        for index in 0..<max(0, size - Plan.leastSize) { bytes.append(UInt8(ascii: "a") + UInt8(index % 26)) }
        return bytes + Array("\"}".utf8)
    }
}

extension Plan {
    /// A name with this digit in all its places.
    func name(ofPlaceholder digit: Character) -> String {
        switch naming {
        case .single: subject
        case .rotating: "\(subject).\(String(repeating: digit, count: Digits.width))"
        case .fresh: "\(subject).\(String(repeating: digit, count: Stamp.width))"
        }
    }

    /// The name of a sender's post.
    func name(sender: Int, number: Int) -> String {
        switch naming {
        case .single: return subject
        case .rotating(let names): return "\(subject).\(padded(number % names, Digits.width))"
        case .fresh: return "\(subject).\(padded(sender, 4))\(padded(number, 12))"
        }
    }

    private func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
