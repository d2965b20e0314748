internal import CLinux
internal import Glibc

/// Every C function that the package calls, once. A result below zero is a negated error number, so that the caller can
/// tell an expected refusal (`EAGAIN`) from a failure without a throw; nobody but this file reads `errno`.
enum SystemCalls {
    @inline(__always)
    private static func retrying<Value: BinaryInteger>(_ call: () -> Value) -> Int {
        while true {
            let result = call()
            if result >= 0 { return Int(result) }
            if errno != EINTR { return -Int(errno) }
        }
    }

    /// Not repeated on EINTR: Linux has freed the number by then, and another thread may have it already.
    static func close(_ number: Int32) {
        _ = Glibc.close(number)
    }

    // Reading and writing

    static func read(_ number: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        retrying { Glibc.read(number, buffer.baseAddress, buffer.count) }
    }

    static func write(_ number: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        retrying { Glibc.write(number, bytes.baseAddress, bytes.count) }
    }

    static func receive(_ number: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        retrying { recv(number, buffer.baseAddress, buffer.count, 0) }
    }

    static func receive(
        _ number: Int32, _ first: UnsafeMutableRawBufferPointer, _ second: UnsafeMutableRawBufferPointer
    ) -> Int {
        let vectors = (
            iovec(iov_base: first.baseAddress, iov_len: first.count),
            iovec(iov_base: second.baseAddress, iov_len: second.count)
        )
        return withUnsafeBytes(of: vectors) { bytes in
            retrying { readv(number, bytes.assumingMemoryBound(to: iovec.self).baseAddress, 2) }
        }
    }

    static func send(_ number: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        retrying { linux_send(number, bytes.baseAddress, bytes.count) }
    }

    static func sendGathered(_ number: Int32, _ vectors: UnsafeBufferPointer<IOVector>) -> Int {
        // SAFETY: IOVector has the layout of linux_vector, and that the one of iovec (checked where it is compiled).
        let base = UnsafeRawPointer(vectors.baseAddress)?.assumingMemoryBound(to: linux_vector.self)
        return retrying { linux_send_gathered(number, base, min(vectors.count, IOVector.most)) }
    }

    // Sockets

    static func unixSocket(_ type: __socket_type, nonblocking: Bool) -> Int {
        retrying { linux_unix_socket(Int32(type.rawValue), nonblocking ? 1 : 0) }
    }

    static func bind(_ number: Int32, _ address: [UInt8]) -> Int {
        retrying { linux_bind(number, address, address.count) }
    }

    static func connect(_ number: Int32, _ address: [UInt8]) -> Int {
        retrying { linux_connect(number, address, address.count) }
    }

    static func send(_ number: Int32, _ bytes: [UInt8], to address: [UInt8]) -> Int {
        retrying { linux_send_to(number, bytes, bytes.count, address, address.count) }
    }

    static func boundAddress(_ number: Int32, _ address: UnsafeMutablePointer<UInt8>) -> Int {
        retrying { linux_bound_address(number, address) }
    }

    static func listen(_ number: Int32, backlog: Int32) -> Int {
        retrying { Glibc.listen(number, backlog) }
    }

    static func accept(_ number: Int32) -> Int {
        retrying { linux_accept(number) }
    }

    static func shutdownWriting(_ number: Int32) -> Int {
        retrying { shutdown(number, Int32(SHUT_WR)) }
    }

    static func peerCredentials(_ number: Int32, _ credentials: inout PeerCredentials) -> Int {
        retrying { linux_peer_credentials(number, &credentials.pid, &credentials.uid, &credentials.gid) }
    }

    static func isListeningUnixStream(_ number: Int32) -> Int {
        retrying { linux_is_listening_unix_stream(number) }
    }

    static func readableBytes(_ number: Int32) -> Int {
        retrying { linux_readable_bytes(number) }
    }

    static func keepFreedMemory() {
        linux_keep_freed_memory()
    }

    static func releaseFreedMemory() {
        linux_release_freed_memory()
    }

    static func releaseCode() {
        linux_release_code()
    }

    static func enlargeSendBuffer(_ number: Int32) {
        linux_enlarge_send_buffer(number)
    }

    static func unreadBytes(_ number: Int32) -> Int {
        retrying { linux_unread_bytes(number) }
    }

    static func setSendTimeout(_ number: Int32, nanoseconds: Int64) -> Int {
        retrying { linux_set_send_timeout(number, nanoseconds) }
    }

    static func setNonblocking(_ number: Int32, _ nonblocking: Bool) -> Int {
        retrying { linux_set_nonblocking(number, nonblocking ? 1 : 0) }
    }

    static func setCloseOnExec(_ number: Int32) -> Int {
        retrying { linux_set_close_on_exec(number) }
    }

    // Waiting

    static func epollCreate() -> Int {
        retrying { linux_epoll_create() }
    }

    static func epollAdd(_ epoll: Int32, _ number: Int32, _ events: UInt32, edge: Bool, token: UInt64) -> Int
    {
        retrying { linux_epoll_add(epoll, number, events, edge ? 1 : 0, token) }
    }

    static func epollModify(_ epoll: Int32, _ number: Int32, _ events: UInt32, edge: Bool, token: UInt64)
        -> Int
    {
        retrying { linux_epoll_modify(epoll, number, events, edge ? 1 : 0, token) }
    }

    static func epollRemove(_ epoll: Int32, _ number: Int32) -> Int {
        retrying { linux_epoll_remove(epoll, number) }
    }

    static func epollWait(
        _ epoll: Int32, _ events: UnsafeMutableBufferPointer<linux_event>, until deadline: UInt64?
    ) -> Int {
        retrying {
            linux_epoll_wait(
                epoll, events.baseAddress, Int32(events.count), MonotonicClock.remaining(until: deadline))
        }
    }

    static func poll(_ entries: UnsafeMutableBufferPointer<PollEntry>, until deadline: UInt64?) -> Int {
        // SAFETY: PollEntry has the layout of linux_poll_entry, and that the one of pollfd (checked where it is compiled).
        let base = UnsafeMutableRawPointer(entries.baseAddress)?.assumingMemoryBound(
            to: linux_poll_entry.self)
        return retrying { linux_poll(base, entries.count, MonotonicClock.remaining(until: deadline)) }
    }

    static var monotonicNanoseconds: Int64 { linux_monotonic_nanoseconds() }
    static var wallNanoseconds: Int64 { linux_wall_nanoseconds() }

    /// -1 if there is no such process.
    static func cpuNanoseconds(ofProcess pid: Int32) -> Int64 {
        var clock = clockid_t()
        guard clock_getcpuclockid(pid, &clock) == 0 else { return -1 }
        return nanoseconds(of: clock)
    }

    static var threadCPUNanoseconds: Int64 { nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) }

    private static func nanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return -1 }
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    // Wake-ups and signals

    static func eventDescriptor() -> Int {
        retrying { linux_eventfd() }
    }

    static func signalDescriptor(_ signals: [Int32]) -> Int {
        retrying { linux_signalfd(signals, signals.count) }
    }

    static func readSignal(_ number: Int32) -> Int {
        retrying { linux_read_signal(number) }
    }

    static func blockSignals(_ signals: [Int32]) -> Int {
        retrying { linux_block_signals(signals, signals.count) }
    }

    static func ignoreSignal(_ number: Int32) {
        _ = Glibc.signal(number, SIG_IGN)
    }

    // Files

    static func open(_ path: Path, _ flags: Int32, mode: UInt32) -> Int {
        path.withCString { path in retrying { linux_open(path, flags, mode) } }
    }

    static func openForNothing(_ path: Path) -> Int {
        path.withCString { path in retrying { linux_open_for_nothing(path) } }
    }

    static func status(_ path: Path, followingLinks: Bool, _ result: inout stat) -> Int {
        path.withCString { path in retrying { followingLinks ? stat(path, &result) : lstat(path, &result) } }
    }

    static func status(_ number: Int32, _ result: inout stat) -> Int {
        retrying { fstat(number, &result) }
    }

    static func makeDirectory(_ path: Path, mode: UInt32) -> Int {
        path.withCString { path in retrying { mkdir(path, mode) } }
    }

    static func unlink(_ path: Path) -> Int {
        path.withCString { path in retrying { Glibc.unlink(path) } }
    }

    static func removeDirectory(_ path: Path) -> Int {
        path.withCString { path in retrying { rmdir(path) } }
    }

    static func changeMode(_ path: Path, _ mode: UInt32) -> Int {
        path.withCString { path in retrying { linux_chmod_no_follow(path, mode) } }
    }

    static func changeMode(_ number: Int32, _ mode: UInt32) -> Int {
        retrying { fchmod(number, mode) }
    }

    static func realPath(_ path: Path) -> Path? {
        path.withCString { path in
            guard let resolved = realpath(path, nil) else { return nil }
            defer { free(resolved) }
            return Path(bytes: bytes(ofCString: resolved))
        }
    }

    static func memoryFile() -> Int {
        retrying { linux_memory_file() }
    }

    static func seekToStart(_ number: Int32) -> Int {
        retrying { lseek(number, 0, SEEK_SET) }
    }

    static func lock(_ number: Int32) -> Int {
        retrying { flock(number, LOCK_EX | LOCK_NB) }
    }

    static func isTerminal(_ number: Int32) -> Bool {
        isatty(number) == 1
    }

    static func pipe(_ ends: inout (Int32, Int32)) -> Int {
        retrying { linux_pipe(&ends.0, &ends.1) }
    }

    // Processes

    static var processIdentifier: Int32 { getpid() }
    static var effectiveUser: UInt32 { geteuid() }

    static func exit(_ status: Int32) -> Never {
        Glibc.exit(status)
    }

    static func environment(_ name: String) -> [UInt8]? {
        getenv(name).map { bytes(ofCString: $0) }
    }

    static func environment() -> [[UInt8]] {
        var all: [[UInt8]] = []
        guard var next = linux_environment() else { return all }
        while let entry = next.pointee {
            all.append(bytes(ofCString: entry))
            next += 1
        }
        return all
    }

    /// The string must end in a NUL.
    static func bytes(ofCString string: UnsafePointer<CChar>) -> [UInt8] {
        // SAFETY: strlen answers how many bytes precede the NUL.
        Array(UnsafeRawBufferPointer(start: string, count: strlen(string)))
    }

    static func removeFromEnvironment(_ name: String) {
        unsetenv(name)
    }

    static func descriptorLimit(_ soft: inout UInt64, _ hard: inout UInt64) -> Int {
        retrying { linux_descriptor_limit(&soft, &hard) }
    }

    static func setDescriptorLimit(_ soft: UInt64, _ hard: UInt64) -> Int {
        retrying { linux_set_descriptor_limit(soft, hard) }
    }

    static func processDescriptor(_ pid: Int32) -> Int {
        retrying { linux_pidfd_open(pid) }
    }

    static func kill(_ pid: Int32, _ signal: Int32) -> Int {
        retrying { Glibc.kill(pid, signal) }
    }

    /// The thread is detached.
    static func startThread(
        _ main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?,
        _ context: UnsafeMutableRawPointer
    ) -> Int {
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, main, context)
        if code == 0 { pthread_detach(thread) }
        return -Int(code)
    }

    static func wait(_ pid: Int32, _ status: inout Int32, blocking: Bool) -> Int {
        retrying { waitpid(pid, &status, blocking ? 0 : WNOHANG) }
    }
}

/// Throws what a call refused.
@discardableResult
func check(_ call: StaticString, _ result: Int) throws(SystemError) -> Int {
    guard result >= 0 else { throw SystemError(call, code: Int32(-result)) }
    return result
}
