import BrokerClient
import CommandLineSupport
import Endpoint
import UnixIO
import WireProtocol

/// One connection, as raw as a load tool needs it: frames are looked at where they were read. Confined to its thread.
final class Link {
    private let socket: StreamSocket
    private let decoder = FrameDecoder(limit: 1 << 30)
    private let place: SocketPath

    var number: Int32 { socket.number }

    init(_ place: SocketPath, until limit: WaitLimit = .none) throws(Failure) {
        self.place = place
        do throws(EndpointError) {
            socket = try ClientEndpoint.connect(to: place, until: limit.deadline)
        } catch {
            throw Failure(error)
        }
        try setBlocking(false)
    }

    func setBlocking(_ blocking: Bool) throws(Failure) {
        try Failure.of { () throws(SystemError) in try socket.setBlocking(blocking) }
    }

    /// Writes what the kernel takes; answers how much.
    func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) -> Int {
        try count(socket.write(bytes))
    }

    func write(_ bytes: ArraySlice<UInt8>) throws(Failure) -> Int {
        try count(bytes.withUnsafeBytes { socket.write($0) })
    }

    private func count(_ outcome: WriteOutcome) throws(Failure) -> Int {
        switch outcome {
        case .bytes(let count): return count
        case .wouldBlock: return 0
        case .closed: throw Failure(nil, .closed, at: place)
        case .failed(let error): throw Failure(.systemError, error.description)
        }
    }

    /// Reads once, through memory that links share; false if nothing is there. What came is to be taken with `nextFrame`
    /// before anything is read again.
    func read(through memory: ByteStorage) throws(Failure) -> Bool {
        let direct = decoder.directSpace(atLeast: memory.capacity)
        let space = direct ?? UnsafeMutableRawBufferPointer(start: memory.base, count: memory.capacity)
        switch socket.read(into: space) {
        case .bytes(let count):
            if direct != nil { decoder.didFillDirectly(count) } else { decoder.load(memory, 0..<count) }
            return true
        case .wouldBlock: return false
        case .endOfFile: throw Failure(nil, .closed, at: place)
        case .failed(let error) where error.isConnectionReset: throw Failure(nil, .closed, at: place)
        case .failed(let error): throw Failure(.systemError, error.description)
        }
    }

    /// A frame's JSON, valid until the next call.
    @inline(__always)
    func nextFrame() throws(Failure) -> UnsafeRawBufferPointer? {
        switch decoder.next() {
        case .frame(let text): return text
        case .needsMore: return nil
        case .failed(let error):
            throw Failure(nil, .violation(error.protocolError.message), at: place)
        }
    }

    /// What a frame says; an error or a goodbye is a failure.
    func message(_ text: UnsafeRawBufferPointer) throws(Failure) -> BrokerMessage {
        let message: BrokerMessage
        do throws(BrokerMessageError) {
            message = try BrokerMessageDecoder().decode(text)
        } catch {
            throw Failure(nil, .violation(error.description), at: place)
        }
        switch message {
        case .error(let refusal): throw Failure(refusal)
        case .goodbye(let goodbye): throw Failure(goodbye, .closed, at: place)
        default: return message
        }
    }

    /// Sends requests that each ask for an answer, and waits for that many answers.
    func exchange(_ requests: [UInt8], answers: Int, through memory: ByteStorage, until limit: WaitLimit)
        throws(Failure)
    {
        var written = 0
        var left = answers
        while true {
            if written < requests.count {
                written += try write(requests[written...])
            }
            while try read(through: memory) {
                while let text = try nextFrame() {
                    switch try message(text) {
                    case .ok, .welcome: left -= 1
                    default: break
                    }
                }
            }
            if left <= 0 { return }
            try wait(written < requests.count ? [.readable, .writable] : .readable, until: limit)
        }
    }

    private func wait(_ interest: Readiness, until limit: WaitLimit) throws(Failure) {
        var entries = [PollEntry(number, interest), PollEntry(limit.alarm ?? -1, .readable)]
        let count = try Failure.of { () throws(SystemError) in
            try PollEntry.wait(for: &entries, until: limit.deadline)
        }
        if !entries[1].readiness.isEmpty { throw .calledOff }
        if count == 0 { throw Failure(.noAnswer, at: place) }
    }
}

extension Link {
    /// The `id` of a ping that ends a conversation: what was sent to this connection before it has come when it is answered.
    static let farewell: UInt64 = 1 << 52

    static let farewellPing: [UInt8] = {
        var frame: [UInt8] = []
        RequestEncoder.ping(id: farewell, to: &frame)
        return frame
    }()
}
