package import UnixIO

/// What stood on a command line, sorted, as the bytes that were typed (a path need not be UTF-8). Values are looked
/// at when they are asked for; one that makes no sense is a `Failure` that shows it.
///
/// A class: to copy and destroy a struct of so many arrays the run-time puts their types together first.
package final class Arguments {
    package private(set) var operands = ByteStrings()
    /// The options that were given, in the order of the command line, and beside each its value: a flag's is empty.
    private var names = ByteStrings()
    private var values = ByteStrings()

    func append(operand: [UInt8]) {
        operands.append(operand)
    }

    func append(_ option: Option, value: [UInt8]) {
        names.append(option.name)
        values.append(value)
    }

    package func has(_ option: Option) -> Bool { place(of: option) != nil }

    /// Where it was given last.
    private func place(of option: Option) -> Int? {
        var place = names.count
        while place > 0 {
            place -= 1
            if option.isWritten(names[place]) { return place }
        }
        return nil
    }

    /// Every value of a repeatable option, in order.
    package func all(_ option: Option) -> [[UInt8]] {
        (0..<names.count).filter { option.isWritten(names[$0]) }.map { Array(values[$0]) }
    }

    /// The value of an option; the last one counts, so that an alias can be overridden.
    package func bytes(_ option: Option) -> [UInt8]? {
        place(of: option).map { Array(values[$0]) }
    }

    /// Refuses the options that the rest of the command line leaves no meaning to.
    package func refuse(_ options: [Option], with reason: String) throws(Failure) {
        for option in options where has(option) { throw misplaced(option.name, reason) }
    }

    /// Refuses all options but these.
    package func allow(_ options: [Option], with reason: String) throws(Failure) {
        for name in names.all where !options.contains(where: { $0.isWritten(name[...]) }) {
            throw misplaced(name, reason)
        }
    }

    private func misplaced(_ name: some Collection<UInt8>, _ reason: String) -> Failure {
        Failure(.usage, "--\(String(decoding: name, as: UTF8.self)) does not go with \(reason)")
    }

    /// Refuses operands beyond the number that the tool takes.
    package func refuseOperands(beyond count: Int) throws(Failure) {
        guard operands.count > count else { return }
        throw Failure(.usage, "unexpected argument \(Failure.quoted(operands[count]))")
    }

    /// UTF-8, or a failure with `status`.
    package func text(_ option: Option, else status: ExitStatus = .usage) throws(Failure) -> [UInt8]? {
        guard let value = bytes(option) else { return nil }
        try checkUTF8(value, in: "--\(option.long)", else: status)
        return value
    }

    package func texts(_ option: Option, else status: ExitStatus = .usage) throws(Failure) -> [[UInt8]] {
        for value in all(option) { try checkUTF8(value, in: "--\(option.long)", else: status) }
        return all(option)
    }

    package func count(_ option: Option, in range: ClosedRange<Int>) throws(Failure) -> Int? {
        try value(of: option, "a whole number from \(range.lowerBound) to \(range.upperBound)") { bytes in
            OptionValue.count(bytes).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    package func byteCount(_ option: Option, in range: ClosedRange<Int>) throws(Failure) -> Int? {
        let expected =
            "a number of bytes from \(range.lowerBound) to \(range.upperBound), as in 64K, 8M or 1G"
        return try value(of: option, expected) { bytes in
            OptionValue.byteCount(bytes).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    package func seconds(_ option: Option) throws(Failure) -> Duration? {
        try value(of: option, "a number of seconds, as in 5 or 0.5", OptionValue.seconds)
    }

    package func mode(_ option: Option) throws(Failure) -> UInt32? {
        try value(of: option, "a mode from 0 to 0777 in octal, as in 0660", OptionValue.mode)
    }

    package func userIDs(_ option: Option) throws(Failure) -> [UInt32] {
        var ids: [UInt32] = []
        for bytes in all(option) {
            guard let id = OptionValue.userID(bytes) else {
                throw wrong(option, bytes, "a user's number, as `id -u NAME` prints it")
            }
            ids.append(id)
        }
        return ids
    }

    package func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ option: Option, of type: Choice.Type = Choice.self
    ) throws(Failure) -> Choice? {
        let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        return try value(of: option, "one of \(words)") {
            Choice(rawValue: String(decoding: $0, as: UTF8.self))
        }
    }

    private func value<Value>(
        of option: Option, _ expected: @autoclosure () -> String, _ convert: ([UInt8]) -> Value?
    ) throws(Failure) -> Value? {
        guard let bytes = bytes(option) else { return nil }
        guard let value = convert(bytes) else { throw wrong(option, bytes, expected()) }
        return value
    }

    private func wrong(_ option: Option, _ bytes: [UInt8], _ expected: String) -> Failure {
        Failure(.usage, "--\(option.long) takes \(expected), not \(Failure.quoted(bytes))")
    }
}
