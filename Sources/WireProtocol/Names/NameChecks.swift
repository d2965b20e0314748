// The rules as answers, for those who write names and want to know before they send them.
extension NameRules {
    package static func fault(inName name: String) -> Fault? {
        var name = name
        return name.withUTF8 { bytes in
            do throws(Fault) {
                try check(name: UnsafeRawBufferPointer(bytes))
                return nil
            } catch {
                return error
            }
        }
    }

    package static func fault(inObject object: String, limit: Int = 1024) -> Fault? {
        object.utf8.count > limit ? .tooLong(count: object.utf8.count, limit: limit) : nil
    }

    package static func fault(inGlob glob: String) -> Fault? {
        switch NamePattern.compiled(glob) {
        case .success: nil
        case .failure(let fault): fault
        }
    }
}

extension NamePattern {
    package init?(glob: String) {
        switch Self.compiled(glob) {
        case .success(let pattern): self = pattern
        case .failure: return nil
        }
    }

    fileprivate static func compiled(_ glob: String) -> Result<NamePattern, NameRules.Fault> {
        Result { () throws(NameRules.Fault) in try NamePattern(Array(glob.utf8)) }
    }
}

extension NameRules.Fault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .empty: "it is empty"
        case .tooLong(let count, let limit): "it has \(count) bytes, the limit is \(limit)"
        case .control(_, let offset): "byte \(offset) is a control character"
        case .loneBackslash: "it ends with a lone backslash"
        }
    }
}
