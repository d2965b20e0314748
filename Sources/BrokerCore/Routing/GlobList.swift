import WireProtocol

/// A few globs, which are walked without reference counts.
final class GlobList {
    // SAFETY: room for `capacity`, of which `count` are filled; each is retained from `append` to `remove`.
    private var globs: UnsafeMutablePointer<Unmanaged<Glob>>
    private var capacity = 2
    private var count = 0

    init() {
        globs = .allocate(capacity: capacity)
    }

    deinit {
        for index in 0..<count { globs[index].release() }
        globs.deallocate()
    }

    var isEmpty: Bool { count == 0 }

    func append(_ glob: Glob) {
        if count == capacity {
            let room = UnsafeMutablePointer<Unmanaged<Glob>>.allocate(capacity: 2 * capacity)
            room.moveInitialize(from: globs, count: count)
            globs.deallocate()
            globs = room
            capacity *= 2
        }
        (globs + count).initialize(to: .passRetained(glob))
        count += 1
    }

    func remove(_ glob: Glob) {
        let wanted = Unmanaged.passUnretained(glob).toOpaque()
        guard let place = (0..<count).first(where: { globs[$0].toOpaque() == wanted }) else { return }
        globs[place].release()
        count -= 1
        (globs + place).update(from: globs + place + 1, count: count - place)
    }

    /// Calls with those that match a name, of which it is known that it has the text that they are filed under. They are not
    /// to come or go meanwhile.
    @inline(__always)
    func forEachMatch(of name: UnsafeRawBufferPointer, _ body: (Glob) -> Void) {
        for index in 0..<count {
            globs[index]._withUnsafeGuaranteedRef { glob in
                if glob.isAnchorOnly || glob.pattern.matches(name) { body(glob) }
            }
        }
    }
}
