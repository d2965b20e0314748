/// What `receive-data --format` takes.
package enum RecordFormat: String, CaseIterable, Sendable {
    case label, data, json
}

/// The part of a notification's userInfo that is shown to a person or handed to a command.
package enum ShownValue: Equatable, Sendable {
    /// A JSON string's text, unescaped.
    case text([UInt8])
    /// Any other value, or a whole userInfo: JSON as it came.
    case json([UInt8])
    /// There was no userInfo.
    case none
}

/// Writes notifications as records: a person's lines, or what scripts read.
///
/// A record of JSON is one line whatever its sender's white space: in valid JSON a raw line break is never part of a
/// string, so each becomes a space and all other bytes stay. Only a terminal gets control characters escaped.
package struct RecordWriter: Sendable {
    package let format: RecordFormat
    package let terminator: UInt8
    package let isTerminal: Bool

    package init(format: RecordFormat, endsWithNul: Bool, isTerminal: Bool) {
        self.format = format
        self.terminator = endsWithNul ? 0 : UInt8(ascii: "\n")
        self.isTerminal = isTerminal
    }

    /// Appends the record of a notification whose frame (without its length) is `frame`.
    package func append(_ value: ShownValue, frame: ArraySlice<UInt8>, to output: inout [UInt8]) {
        switch format {
        case .label:
            output.append(contentsOf: "Received data: ".utf8)
            append(value, to: &output)
        case .data:
            append(value, to: &output)
        case .json:
            append(json: frame, to: &output)
        }
        output.append(terminator)
    }

    /// Appends a frame that is no notification (a gap): a record in `json`, nothing in the other formats.
    package func append(otherFrame frame: ArraySlice<UInt8>, to output: inout [UInt8]) {
        guard format == .json else { return }
        append(json: frame, to: &output)
        output.append(terminator)
    }

    /// Appends the line that says that it is observing: `label` has one, the formats for scripts have none.
    package func appendReady(to output: inout [UInt8]) {
        guard format == .label else { return }
        output.append(contentsOf: "NO DATA".utf8)
        output.append(terminator)
    }

    private func append(_ value: ShownValue, to output: inout [UInt8]) {
        switch value {
        case .text(let text) where isTerminal: ControlCharacters.escape(text[...], as: .braces, to: &output)
        case .text(let text): output.append(contentsOf: text)
        case .json(let json): append(json: json[...], to: &output)
        case .none: break
        }
    }

    private func append(json: ArraySlice<UInt8>, to output: inout [UInt8]) {
        if isTerminal {
            ControlCharacters.escape(json, as: .json, to: &output)
        } else {
            oneLine(json, to: &output)
        }
    }
}

/// Appends JSON with its raw line breaks, which lie between tokens, as spaces.
package func oneLine(_ json: ArraySlice<UInt8>, to output: inout [UInt8]) {
    let start = output.count
    output.append(contentsOf: json)
    for index in start..<output.count where output[index] == 0x0A || output[index] == 0x0D {
        output[index] = UInt8(ascii: " ")
    }
}
