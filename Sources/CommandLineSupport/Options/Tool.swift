package import UnixIO

/// A tool as its users see it: from this its arguments are parsed and its help is written.
package struct Tool: Sendable {
    /// Offers options, one after the other, until one is taken: a table would be put together anew whenever the tool starts.
    package typealias Options = @Sendable (_ takes: (Option) -> Bool) -> Bool

    package let name: String
    package let version: String
    /// What may follow the tool's name, one line for each way.
    package let usage: String
    package let summary: String
    private let ownOptions: Options
    package let exitStatuses: @Sendable () -> [ExitStatus]

    /// `--help` and `--version` come with every tool.
    package init(
        name: String, version: String, usage: String, summary: String,
        options: @escaping Options,
        exitStatuses: @escaping @Sendable () -> [ExitStatus]
    ) {
        self.name = name
        self.version = version
        self.usage = usage
        self.summary = summary
        ownOptions = options
        self.exitStatuses = exitStatuses
    }

    package var options: [Option] {
        var all: [Option] = []
        _ = option {
            all.append($0)
            return false
        }
        return all
    }

    private func option(where isMeant: (Option) -> Bool) -> Option? {
        var found: Option?
        func takes(_ option: Option) -> Bool {
            guard isMeant(option) else { return false }
            found = option
            return true
        }
        _ = ownOptions(takes) || takes(.help) || takes(.version)
        return found
    }

    package enum Request {
        case run(Arguments)
        case help
        case version
    }

    /// Sorts a command line (without the tool's name) into options and operands, which may be mixed. As everywhere:
    /// `--name=X`, `--name X`, `-nX`, `-n X`, `-qn X`; `--` ends the options; a lone `-` is an operand; a value may
    /// begin with a dash. `--help` and `--version` count as soon as they are met.
    package func parse(_ commandLine: ByteStrings) throws(Failure) -> Request {
        let arguments = Arguments()
        var rest = Words(commandLine)
        while let argument = rest.next() {
            var flag: Option?
            if argument == [dash, dash] {
                while let operand = rest.next() { arguments.append(operand: operand) }
            } else if argument.starts(with: [dash, dash]) {
                flag = try parse(long: argument.dropFirst(2), rest: &rest, into: arguments)
            } else if argument.first == dash && argument.count > 1 {
                flag = try parse(cluster: argument.dropFirst(), rest: &rest, into: arguments)
            } else {
                arguments.append(operand: argument)
            }
            if flag?.isHelp == true { return .help }
            if flag?.isVersion == true { return .version }
        }
        return .run(arguments)
    }

    private struct Words {
        private let words: ByteStrings
        private var taken = 0

        init(_ words: ByteStrings) { self.words = words }

        mutating func next() -> [UInt8]? {
            guard taken < words.count else { return nil }
            defer { taken += 1 }
            return Array(words[taken])
        }
    }

    /// Answers the flag that it was.
    private func parse(
        long argument: ArraySlice<UInt8>, rest: inout Words, into arguments: Arguments
    ) throws(Failure) -> Option? {
        let equals = argument.firstIndex(of: UInt8(ascii: "="))
        let name = argument[..<(equals ?? argument.endIndex)]
        guard let option = option(where: { $0.isWritten(name) }) else {
            throw unknown(long: name)
        }
        let attached = equals.map { Array(argument[($0 + 1)...]) }
        guard option.value != nil else {
            if let attached {
                throw Failure(.usage, "--\(option.long) takes no value (it got \(Failure.quoted(attached)))")
            }
            arguments.append(option, value: [])
            return option
        }
        guard let value = attached ?? rest.next() else {
            throw missingValue("--\(option.long)", of: option)
        }
        arguments.append(option, value: value)
        return nil
    }

    /// Short options in one argument: flags, the last of which may be an option with a value, attached or following.
    private func parse(
        cluster: ArraySlice<UInt8>, rest: inout Words, into arguments: Arguments
    ) throws(Failure) -> Option? {
        var cluster = cluster
        while let letter = cluster.first {
            guard let option = option(where: { $0.short?.value == UInt32(letter) }) else {
                throw unknown(short: cluster)
            }
            cluster.removeFirst()
            if option.value == nil {
                arguments.append(option, value: [])
                if option.isHelp || option.isVersion { return option }
                continue
            }
            let attached = cluster.isEmpty ? nil : Array(cluster)
            guard let value = attached ?? rest.next() else {
                throw missingValue("-\(Character(UnicodeScalar(letter)))", of: option)
            }
            arguments.append(option, value: value)
            return nil
        }
        return nil
    }

    private func unknown(long name: ArraySlice<UInt8>) -> Failure {
        let typed = String(decoding: name, as: UTF8.self)
        let nearest = nearestWord(to: typed, in: options.map { "\($0.long)" })
        let advice = nearest.map { "did you mean --\($0)?" } ?? "see \(self.name) --help"
        return Failure(.usage, "unknown option \(Failure.quoted("--".utf8 + name)); \(advice)")
    }

    private func unknown(short cluster: ArraySlice<UInt8>) -> Failure {
        let letter = String(decoding: cluster, as: UTF8.self).prefix(1)
        let swapped = options.first { option in
            option.short.map { "\($0)".lowercased() == letter.lowercased() } ?? false
        }
        let advice = swapped?.short.map { "did you mean -\($0)?" } ?? "see \(name) --help"
        return Failure(.usage, "unknown option '-\(letter)'; \(advice)")
    }

    private func missingValue(_ spelling: String, of option: Option) -> Failure {
        Failure(.usage, "\(spelling) needs a value: \(spelling) \(option.value ?? "")")
    }
}

private let dash = UInt8(ascii: "-")
