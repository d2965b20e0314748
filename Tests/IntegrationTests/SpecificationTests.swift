import TestSupport
import Testing
import UnixIO

/// The specification's test vectors, sent to a broker.
@Suite(.ownThreads) struct SpecificationTests {
    private struct Vector {
        let sent: String
        let answered: String
    }

    private static let path: Path = {
        let root = Path("\(#filePath)").parent.parent.parent
        return root.appending("Sources/WireProtocol/WireProtocol.docc/Protocol.md")
    }()

    /// The rows of the tables below the heading: two cells, each code.
    private func vectors() throws -> [Vector] {
        let text = String(decoding: try FileSystem.contents(of: Self.path), as: UTF8.self)
        let lines = text.split(separator: "\n").drop { $0 != "## Test vectors" }
        return lines.compactMap { line in
            guard line.hasPrefix("| `"), line.hasSuffix("` |"), let middle = line.firstRange(of: "` | `")
            else {
                return nil
            }
            return Vector(
                sent: String(line[..<middle.lowerBound].dropFirst(3)),
                answered: String(line[middle.upperBound...].dropLast(3)))
        }
    }

    /// nil for what is not written in hexadecimal.
    private func bytes(_ text: String) -> [UInt8]? {
        let digits = Array(text.filter { $0 != " " })
        guard digits.count >= 8, digits.count.isMultiple(of: 2), digits.allSatisfy(\.isHexDigit) else {
            return nil
        }
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(digits[$0...($0 + 1)]), radix: 16)
        }
    }

    @Test func theVectorsHold() throws {
        let stage = try Stage()
        try stage.broker()
        let vectors = try vectors()
        #expect(vectors.count > 50)
        for vector in vectors {
            let client = try stage.client()
            try client.send(raw: bytes(vector.sent) ?? FrameClient.frame(vector.sent))
            let answer = try client.frameBytes()
            if let wanted = bytes(vector.answered) {
                #expect(answer == Array(wanted.dropFirst(4)), "\(vector.sent)")
            } else {
                let frame = try JSONValue(parsing: answer)
                let found = frame["code"]?.text ?? frame["type"]?.text
                #expect(found == vector.answered, "\(vector.sent): \(frame)")
            }
        }
    }
}
