/// Writes a frame that is not a post's: its members in the order of the calls, length and all.
package struct FrameWriter {
    package private(set) var bytes: [UInt8]

    package init(_ type: StaticString) {
        bytes = [0, 0, 0, 0]
        bytes.reserveCapacity(160)
        bytes.append(literal: "{\"type\":\"")
        bytes.append(literal: type)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Begins a member; its value is to follow.
    package mutating func key(_ key: StaticString) {
        if let last = bytes.last, last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(literal: key)
        bytes.append(literal: "\":")
    }

    package mutating func member(_ key: StaticString, _ value: some BinaryInteger) {
        self.key(key)
        JSONNumber.append(UInt64(clamping: value), to: &bytes)
    }

    package mutating func member(_ key: StaticString, _ value: Bool) {
        self.key(key)
        bytes.append(literal: value ? "true" : "false")
    }

    package mutating func member(_ key: StaticString, _ text: String) {
        self.key(key)
        JSONString.append(text, quotedTo: &bytes)
    }

    package mutating func member(_ key: StaticString, text: [UInt8]) {
        self.key(key)
        JSONString.append(text, quotedTo: &bytes)
    }

    /// A member whose value is JSON already.
    package mutating func member(_ key: StaticString, json: some Sequence<UInt8>) {
        self.key(key)
        bytes.append(contentsOf: json)
    }

    /// Writes an object, or its elements, as a member's value.
    package mutating func object(_ members: (inout FrameWriter) -> Void) {
        bytes.append(UInt8(ascii: "{"))
        members(&self)
        bytes.append(UInt8(ascii: "}"))
    }

    package mutating func array<Element>(
        _ elements: some Sequence<Element>, _ element: (inout FrameWriter, Element) -> Void
    ) {
        bytes.append(UInt8(ascii: "["))
        var isFirst = true
        for each in elements {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            element(&self, each)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// A number as an element of an array.
    package mutating func number(_ value: some BinaryInteger) {
        JSONNumber.append(UInt64(clamping: value), to: &bytes)
    }

    /// A string as an element of an array.
    package mutating func string(_ text: [UInt8]) {
        JSONString.append(text, quotedTo: &bytes)
    }

    /// The whole frame, with its length in front.
    package consuming func finish() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        bytes.setFrameLength(bytes.count - 4)
        return bytes
    }
}
