package import UnixIO

/// The other end of a connection, as raw as a test wants it: bytes, frames of JSON text, and what came back.
package final class FrameClient {
    private unowned let stage: Stage
    private let socket: StreamSocket
    private let stream: ByteStream

    init(_ socket: consuming StreamSocket, on stage: Stage) throws {
        self.stage = stage
        try socket.setBlocking(false)
        stream = stage.read(Descriptor(adopting: duplicate(socket.number)))
        self.socket = socket
    }

    deinit { stage.forget(stream) }

    /// Sends bytes as they are, and reads meanwhile.
    package func send(raw bytes: [UInt8]) throws {
        var sent = 0
        try stage.wait(for: "the broker reads \(bytes.count) bytes") { () throws -> Void? in
            while sent < bytes.count {
                switch bytes[sent...].withUnsafeBytes({ socket.write($0) }) {
                case .bytes(let count): sent += count
                case .wouldBlock: return nil
                case .closed, .failed: throw TestFailure("the connection is closed")
                }
            }
            return ()
        }
    }

    package func send(_ json: String) throws {
        try send(raw: Self.frame(json))
    }

    package static func frame(_ json: String) -> [UInt8] {
        let count = UInt32(json.utf8.count)
        return withUnsafeBytes(of: count.bigEndian) { Array($0) } + Array(json.utf8)
    }

    /// The next frame that has come, if one has.
    package func frameIfAny() throws -> JSONValue? {
        guard let header = stream.peek(4) else { return nil }
        let count = header.reduce(0) { $0 << 8 | Int($1) }
        return try stream.take(4 + count).map { try JSONValue(parsing: $0.dropFirst(4)) }
    }

    /// The next frame as it came.
    package func frameBytes(within seconds: Double = Stage.patience) throws -> [UInt8] {
        try stage.wait(for: "a frame", within: seconds) {
            if let header = stream.peek(4) {
                let count = header.reduce(0) { $0 << 8 | Int($1) }
                if let whole = stream.take(4 + count) { return Array(whole.dropFirst(4)) }
            }
            if stream.hasEnded { throw TestFailure("the connection ended") }
            return nil
        }
    }

    package func frame(within seconds: Double = Stage.patience) throws -> JSONValue {
        try JSONValue(parsing: try frameBytes(within: seconds))
    }

    /// The next frame of that type; others before it are passed over.
    @discardableResult
    package func frame(_ type: String, within seconds: Double = Stage.patience) throws -> JSONValue {
        while true {
            let frame = try frame(within: seconds)
            if frame["type"] == .string(type) { return frame }
        }
    }

    /// Sends a request and takes its answer.
    @discardableResult
    package func request(_ json: String, answer: String = "ok") throws -> JSONValue {
        try send(json)
        return try frame(answer)
    }

    /// Nothing more comes: the other side has closed.
    package func expectEnd(within seconds: Double = Stage.patience) throws {
        try stage.wait(for: "the end of the connection", within: seconds) { stream.hasEnded ? () : nil }
        guard stream.untaken.isEmpty else { throw TestFailure("more came: \(Array(stream.untaken))") }
    }

    package func shutdownWriting() { socket.shutdownWriting() }
}

extension Stage {
    package func client(at path: Path? = nil) throws -> FrameClient {
        let deadline = MonotonicClock.deadline(inSeconds: Stage.patience)
        return try FrameClient(StreamSocket.connect(to: path ?? socket, until: deadline), on: self)
    }

    /// A connection that writes those bytes and closes at once, reading nothing.
    package func connectWriteAndClose(_ bytes: [UInt8]) throws {
        let socket = try StreamSocket.connect(
            to: self.socket, until: MonotonicClock.deadline(inSeconds: Stage.patience))
        var rest = bytes[...]
        while !rest.isEmpty {
            guard case .bytes(let count) = rest.withUnsafeBytes({ socket.write($0) }) else {
                throw TestFailure("the connection is closed")
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Waits until that many connections observe the name.
    package func awaitObservers(_ name: String = "DataNotification", _ count: Int = 1) throws {
        try client().request(#"{"type":"awaitObservers","id":1,"name":"\#(name)","count":\#(count)}"#)
    }

    package func status() throws -> JSONValue {
        try client().request(#"{"type":"status","id":1}"#, answer: "status")
    }

    package func fakeBroker() throws -> FakeBroker { try FakeBroker(on: self) }
}

/// A listener that plays a broker, well or badly.
package final class FakeBroker {
    private unowned let stage: Stage
    private let listener: ListeningSocket

    init(on stage: Stage) throws {
        self.stage = stage
        listener = try ListeningSocket(at: stage.socket, mode: 0o600)
    }

    /// A connection that has come, if one has.
    package func acceptIfAny() throws -> FrameClient? {
        switch listener.accept() {
        case .connection(let socket, _): return try FrameClient(socket, on: stage)
        case .wouldBlock: return nil
        case .descriptorsExhausted(let error): throw error
        case .failed(let error): throw error
        }
    }

    package func accept(within seconds: Double = Stage.patience) throws -> FrameClient {
        try stage.wait(for: "a connection", within: seconds) {
            try acceptIfAny()
        }
    }
}

extension FrameClient {
    /// Reads requests as the broker would until an observer comes, answers them all, and returns its frame.
    @discardableResult
    package func acceptObserver() throws -> JSONValue {
        while true {
            let frame = try answerNext()
            if frame["type"] == .string("addObserver") { return frame }
        }
    }

    /// The same until a post comes.
    @discardableResult
    package func acceptPost(seq: Int, receivers: Int = 1) throws -> JSONValue {
        while true {
            let frame = try answerNext(#","seq":\#(seq),"receivers":\#(receivers)"#)
            if frame["type"] == .string("post") { return frame }
        }
    }

    private func answerNext(_ members: String = "") throws -> JSONValue {
        let frame = try frame()
        try answer(frame, members)
        return frame
    }

    /// The good answer to a request, with these members.
    package func answer(_ frame: JSONValue, _ members: String = "") throws {
        let id = frame["id"].map { #","id":\#($0)"# } ?? ""
        if frame["type"] == .string("hello") {
            try send(
                #"{"type":"welcome"\#(id),"protocol":1,"broker":{"version":"0","instance":"fake"},"features":[],"#
                    + #""connection":1,"seq":0,"limits":{"frameBytes":16777216,"nameBytes":255,"objectBytes":1024,"#
                    + #""depth":128,"queueBytes":8388608,"observers":1000}}"#)
        } else if !id.isEmpty {
            try send(#"{"type":"ok"\#(id)\#(members)}"#)
        }
    }

    package func notify(_ seq: Int, _ userInfo: String, name: String = "DataNotification") throws {
        try send(
            #"{"type":"notification","seq":\#(seq),"time":1,"sender":{"connection":9,"pid":1,"uid":0,"gid":0},"#
                + #""name":"\#(name)","userInfo":\#(userInfo)}"#)
    }
}
