import WireProtocol

/// A few globs, which are walked without reference counts.
final class GlobList {
    private var globs: [Glob] = []
    // SAFETY: room for `capacity`, of which `count` are filled: those of `globs`, in its order, which keeps them alive.
    private var walked: UnsafeMutablePointer<Unmanaged<Glob>>
    private var capacity = 2
    private var count = 0

    init() {
        walked = .allocate(capacity: capacity)
    }

    deinit {
        walked.deallocate()
    }

    var isEmpty: Bool { count == 0 }

    func append(_ glob: Glob) {
        if count == capacity {
            let room = UnsafeMutablePointer<Unmanaged<Glob>>.allocate(capacity: 2 * capacity)
            room.moveInitialize(from: walked, count: count)
            walked.deallocate()
            walked = room
            capacity *= 2
        }
        (walked + count).initialize(to: .passUnretained(glob))
        globs.append(glob)
        count += 1
    }

    func remove(_ glob: Glob) {
        guard let place = globs.firstIndex(where: { $0 === glob }) else { return }
        count -= 1
        (walked + place).update(from: walked + place + 1, count: count - place)
        globs.remove(at: place)
    }

    /// Calls with those that match a name, of which it is known that it has the text that they are filed under. They are not
    /// to come or go meanwhile.
    @inline(__always)
    func forEachMatch(of name: UnsafeRawBufferPointer, _ body: (Glob) -> Void) {
        for index in 0..<count {
            walked[index]._withUnsafeGuaranteedRef { glob in
                if glob.isAnchorOnly || glob.pattern.matches(name) { body(glob) }
            }
        }
    }
}
