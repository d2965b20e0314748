#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

_Static_assert(linux_readable == EPOLLIN && linux_readable == POLLIN, "readable");
_Static_assert(linux_writable == EPOLLOUT && linux_writable == POLLOUT, "writable");
_Static_assert(linux_error == EPOLLERR && linux_error == POLLERR, "error");
_Static_assert(linux_hang_up == EPOLLHUP && linux_hang_up == POLLHUP, "hang up");
_Static_assert(linux_invalid == POLLNVAL, "invalid");
_Static_assert(linux_peer_closed == EPOLLRDHUP && linux_peer_closed == POLLRDHUP, "peer closed");
_Static_assert(sizeof(struct linux_poll_entry) == sizeof(struct pollfd), "poll entry");
_Static_assert(offsetof(struct linux_poll_entry, readiness) == offsetof(struct pollfd, revents), "poll entry");
_Static_assert(sizeof(struct linux_vector) == sizeof(struct iovec), "vector");
_Static_assert(offsetof(struct linux_vector, count) == offsetof(struct iovec, iov_len), "vector");
_Static_assert(linux_address_capacity == sizeof(((struct sockaddr_un *)0)->sun_path), "address");

static struct timespec timespec_of(int64_t nanoseconds) {
    return (struct timespec){.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
}

// epoll and poll

int linux_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static int control(int epoll, int operation, int descriptor, uint32_t events, int edge_triggered, uint64_t token) {
    struct epoll_event event = {.events = events | (edge_triggered ? EPOLLET : 0), .data.u64 = token};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

int linux_epoll_add(int epoll, int descriptor, uint32_t events, int edge_triggered, uint64_t token) {
    return control(epoll, EPOLL_CTL_ADD, descriptor, events, edge_triggered, token);
}

int linux_epoll_modify(int epoll, int descriptor, uint32_t events, int edge_triggered, uint64_t token) {
    return control(epoll, EPOLL_CTL_MOD, descriptor, events, edge_triggered, token);
}

int linux_epoll_remove(int epoll, int descriptor) { return control(epoll, EPOLL_CTL_DEL, descriptor, 0, 0, 0); }

int linux_epoll_wait(int epoll, struct linux_event *events, int capacity, int64_t timeout_nanoseconds) {
    struct epoll_event ready[256];
    int most = capacity < 256 ? capacity : 256;
    struct timespec timeout = timespec_of(timeout_nanoseconds < 0 ? 0 : timeout_nanoseconds);
    int count = epoll_pwait2(epoll, ready, most, timeout_nanoseconds < 0 ? NULL : &timeout, NULL);
    if (count < 0 && errno == ENOSYS) {
        // Kernels before 5.11. Rounded up, or a wait for a deadline would spin through its last millisecond.
        int64_t milliseconds = timeout_nanoseconds < 0 ? -1 : timeout_nanoseconds / 1000000 + (timeout_nanoseconds % 1000000 != 0);
        count = epoll_wait(epoll, ready, most, milliseconds > INT32_MAX ? INT32_MAX : (int)milliseconds);
    }
    for (int index = 0; index < count; index++) {
        events[index] = (struct linux_event){.token = ready[index].data.u64, .events = ready[index].events};
    }
    return count;
}

int linux_poll(struct linux_poll_entry *entries, size_t count, int64_t timeout_nanoseconds) {
    struct timespec timeout = timespec_of(timeout_nanoseconds < 0 ? 0 : timeout_nanoseconds);
    return ppoll((struct pollfd *)entries, count, timeout_nanoseconds < 0 ? NULL : &timeout, NULL);
}

static int64_t nanoseconds_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t linux_monotonic_nanoseconds(void) { return nanoseconds_of(CLOCK_MONOTONIC); }
int64_t linux_wall_nanoseconds(void) { return nanoseconds_of(CLOCK_REALTIME); }

// Wake-ups and signals

int linux_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static sigset_t set_of(const int32_t *signals, size_t count) {
    sigset_t set;
    sigemptyset(&set);
    for (size_t index = 0; index < count; index++) sigaddset(&set, signals[index]);
    return set;
}

int linux_signalfd(const int32_t *signals, size_t count) {
    sigset_t set = set_of(signals, count);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int linux_block_signals(const int32_t *signals, size_t count) {
    sigset_t set = set_of(signals, count);
    int code = pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (code == 0) return 0;
    errno = code;
    return -1;
}

int linux_read_signal(int descriptor) {
    struct signalfd_siginfo info;
    ssize_t count = read(descriptor, &info, sizeof info);
    return count == sizeof info ? (int)info.ssi_signo : -1;
}

// Sockets

int linux_unix_socket(int type, int nonblocking) {
    return socket(AF_UNIX, type | SOCK_CLOEXEC | (nonblocking ? SOCK_NONBLOCK : 0), 0);
}

static socklen_t fill(struct sockaddr_un *target, const uint8_t *address, size_t length) {
    memset(target, 0, sizeof *target);
    target->sun_family = AF_UNIX;
    // A path needs its NUL, an abstract name, which begins with one, has none.
    int abstract = length > 0 && address[0] == 0;
    if (length == 0 || length + !abstract > sizeof target->sun_path) {
        errno = length == 0 ? ENOENT : ENAMETOOLONG;
        return 0;
    }
    memcpy(target->sun_path, address, length);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + !abstract);
}

int linux_bind(int descriptor, const uint8_t *address, size_t length) {
    struct sockaddr_un target;
    socklen_t size = fill(&target, address, length);
    return size == 0 ? -1 : bind(descriptor, (struct sockaddr *)&target, size);
}

int linux_connect(int descriptor, const uint8_t *address, size_t length) {
    struct sockaddr_un target;
    socklen_t size = fill(&target, address, length);
    return size == 0 ? -1 : connect(descriptor, (struct sockaddr *)&target, size);
}

ssize_t linux_send_to(int descriptor, const void *bytes, size_t count, const uint8_t *address, size_t length) {
    struct sockaddr_un target;
    socklen_t size = fill(&target, address, length);
    return size == 0 ? -1 : sendto(descriptor, bytes, count, MSG_NOSIGNAL, (struct sockaddr *)&target, size);
}

ssize_t linux_bound_address(int descriptor, uint8_t *address) {
    struct sockaddr_un source;
    socklen_t size = sizeof source;
    if (getsockname(descriptor, (struct sockaddr *)&source, &size) < 0) return -1;
    if (source.sun_family != AF_UNIX || size <= offsetof(struct sockaddr_un, sun_path)) return 0;
    size_t length = size - offsetof(struct sockaddr_un, sun_path);
    if (source.sun_path[0] != 0) length = strnlen(source.sun_path, length);
    memcpy(address, source.sun_path, length);
    return (ssize_t)length;
}

int linux_accept(int descriptor) { return accept4(descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC); }

int linux_peer_credentials(int descriptor, pid_t *pid, uid_t *uid, gid_t *gid) {
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0) return -1;
    *pid = credentials.pid;
    *uid = credentials.uid;
    *gid = credentials.gid;
    return 0;
}

int linux_is_listening_unix_stream(int descriptor) {
    const int options[] = {SO_DOMAIN, SO_TYPE, SO_ACCEPTCONN};
    const int wanted[] = {AF_UNIX, SOCK_STREAM, 1};
    for (int index = 0; index < 3; index++) {
        int value = 0;
        socklen_t size = sizeof value;
        if (getsockopt(descriptor, SOL_SOCKET, options[index], &value, &size) < 0) return -1;
        if (value != wanted[index]) return 0;
    }
    return 1;
}

extern char __executable_start;
extern char etext;

void linux_release_code(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t start = (size_t)&__executable_start & ~(page - 1);
    size_t end = (size_t)&etext & ~(page - 1);
    // The pages stay in the page cache; those that run again are mapped again.
    madvise((void *)start, end - start, MADV_DONTNEED);
}

void linux_enlarge_send_buffer(int descriptor) {
    // The kernel doubles it; by default a buffer has 208 KiB.
    int size = 160 << 10;
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

void linux_keep_freed_memory(void) {
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 24 << 20);
}

void linux_release_freed_memory(void) {
    malloc_trim(0);
}

int linux_unread_bytes(int descriptor) {
    int count = 0;
    return ioctl(descriptor, TIOCOUTQ, &count) < 0 ? -1 : count;
}

int linux_readable_bytes(int descriptor) {
    int count = 0;
    return ioctl(descriptor, FIONREAD, &count) < 0 ? -1 : count;
}

int linux_set_send_timeout(int descriptor, int64_t nanoseconds) {
    struct timeval timeout = {.tv_sec = nanoseconds / 1000000000, .tv_usec = nanoseconds % 1000000000 / 1000};
    return setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
}

int linux_set_nonblocking(int descriptor, int nonblocking) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0) return -1;
    int wanted = nonblocking ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
    return wanted == flags ? 0 : fcntl(descriptor, F_SETFL, wanted);
}

int linux_set_close_on_exec(int descriptor) { return fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

ssize_t linux_send(int descriptor, const void *bytes, size_t count) {
    return send(descriptor, bytes, count, MSG_NOSIGNAL);
}

ssize_t linux_send_gathered(int descriptor, const struct linux_vector *vectors, size_t count) {
    struct msghdr message = {.msg_iov = (struct iovec *)vectors, .msg_iovlen = count};
    return sendmsg(descriptor, &message, MSG_NOSIGNAL);
}

// Files and limits

int linux_open(const char *path, int flags, mode_t mode) { return open(path, flags | O_CLOEXEC, mode); }

int linux_memory_file(void) { return memfd_create("memory", MFD_CLOEXEC); }

int linux_open_for_nothing(const char *path) { return open(path, O_PATH | O_CLOEXEC); }

int linux_pipe(int *reading, int *writing) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return -1;
    *reading = ends[0];
    *writing = ends[1];
    return 0;
}

int linux_chmod_no_follow(const char *path, mode_t mode) {
    return fchmodat(AT_FDCWD, path, mode, AT_SYMLINK_NOFOLLOW);
}

int linux_descriptor_limit(uint64_t *soft, uint64_t *hard) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return -1;
    *soft = limit.rlim_cur;
    *hard = limit.rlim_max;
    return 0;
}

int linux_set_descriptor_limit(uint64_t soft, uint64_t hard) {
    struct rlimit limit = {.rlim_cur = soft, .rlim_max = hard};
    return setrlimit(RLIMIT_NOFILE, &limit);
}

// Processes

char **linux_environment(void) { return environ; }

int linux_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int linux_spawn(pid_t *pid, const char *file, char *const arguments[], char *const environment[],
                const int32_t *moves, size_t move_count, int first_closed) {
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    int code = posix_spawnattr_init(&attributes);
    if (code != 0) return code;
    if ((code = posix_spawn_file_actions_init(&actions)) != 0) {
        posix_spawnattr_destroy(&attributes);
        return code;
    }
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    for (size_t index = 0; index < move_count && code == 0; index++) {
        code = posix_spawn_file_actions_adddup2(&actions, moves[2 * index], moves[2 * index + 1]);
    }
    if (code == 0) code = posix_spawn_file_actions_addclosefrom_np(&actions, first_closed);
    if (code == 0) code = posix_spawnp(pid, file, &actions, &attributes, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return code;
}

int linux_status_exited(int status) { return WIFEXITED(status); }
int linux_status_exit_code(int status) { return WEXITSTATUS(status); }
int linux_status_signal(int status) { return WTERMSIG(status); }

const char *linux_error_text(int code) {
    const char *text = strerrordesc_np(code);
    return text != NULL ? text : "Unknown error";
}
