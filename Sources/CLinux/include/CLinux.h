#pragma once

// What Swift's Glibc module does not offer, or offers in a shape Swift can't use: packed and flexible structures,
// function-like macros, GNU extensions. Each function keeps the C convention: -1 and errno.
// No _GNU_SOURCE here: with it the importer finds declarations twice. It is defined in CLinux.c.

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// epoll_event is packed on x86-64 only; this one never is.
struct linux_event {
    uint64_t token;
    uint32_t events;
};

enum {
    linux_readable = 0x001,
    linux_writable = 0x004,
    linux_error = 0x008,
    linux_hang_up = 0x010,
    linux_invalid = 0x020,
    linux_peer_closed = 0x2000,
};

int linux_epoll_create(void);
int linux_epoll_add(int epoll, int descriptor, uint32_t events, int edge_triggered, uint64_t token);
int linux_epoll_modify(int epoll, int descriptor, uint32_t events, int edge_triggered, uint64_t token);
int linux_epoll_remove(int epoll, int descriptor);
/// Fills at most `capacity` events, 256 at a time. A negative timeout waits for ever.
int linux_epoll_wait(int epoll, struct linux_event *events, int capacity, int64_t timeout_nanoseconds);

struct linux_poll_entry {
    int32_t descriptor;
    int16_t interest;
    int16_t readiness;
};

int linux_poll(struct linux_poll_entry *entries, size_t count, int64_t timeout_nanoseconds);

int64_t linux_monotonic_nanoseconds(void);
int64_t linux_wall_nanoseconds(void);

int linux_eventfd(void);
int linux_signalfd(const int32_t *signals, size_t count);
int linux_block_signals(const int32_t *signals, size_t count);
/// The number of a pending signal of a signalfd.
int linux_read_signal(int descriptor);

// Addresses: a path without NUL, or an abstract name that begins with one.
enum { linux_address_capacity = 108 };
int linux_unix_socket(int type, int nonblocking);
int linux_bind(int descriptor, const uint8_t *address, size_t length);
int linux_connect(int descriptor, const uint8_t *address, size_t length);
ssize_t linux_send_to(int descriptor, const void *bytes, size_t count, const uint8_t *address, size_t length);
/// The path that a socket is bound to; 0 if to none. `address` holds linux_address_capacity bytes.
ssize_t linux_bound_address(int descriptor, uint8_t *address);
int linux_accept(int descriptor);
int linux_peer_credentials(int descriptor, pid_t *pid, uid_t *uid, gid_t *gid);
int linux_is_listening_unix_stream(int descriptor);
int linux_readable_bytes(int descriptor);
int linux_unread_bytes(int descriptor);
void linux_enlarge_send_buffer(int descriptor);

void linux_release_code(void);
void linux_keep_freed_memory(void);
void linux_release_freed_memory(void);
int linux_set_send_timeout(int descriptor, int64_t nanoseconds);
int linux_set_nonblocking(int descriptor, int nonblocking);
int linux_set_close_on_exec(int descriptor);

// The layout of struct iovec.
struct linux_vector {
    const void *base;
    size_t count;
};

ssize_t linux_send(int descriptor, const void *bytes, size_t count);
ssize_t linux_send_gathered(int descriptor, const struct linux_vector *vectors, size_t count);

int linux_open(const char *path, int flags, mode_t mode);
int linux_memory_file(void);
/// A descriptor that can be neither read nor written.
int linux_open_for_nothing(const char *path);
int linux_pipe(int *reading, int *writing);
int linux_chmod_no_follow(const char *path, mode_t mode);
int linux_descriptor_limit(uint64_t *soft, uint64_t *hard);
int linux_set_descriptor_limit(uint64_t soft, uint64_t hard);

char **linux_environment(void);
int linux_pidfd_open(pid_t pid);
/// Looks in PATH for a file without slash. All signals at their default, none blocked, only descriptors below `first_closed` inherited.
/// `moves` holds `move_count` pairs (from, to), applied in order. Returns an error number, as posix_spawn does.
int linux_spawn(pid_t *pid, const char *file, char *const arguments[], char *const environment[],
                const int32_t *moves, size_t move_count, int first_closed);
int linux_status_exited(int status);
int linux_status_exit_code(int status);
int linux_status_signal(int status);

/// A static text, such as "Connection refused".
const char *linux_error_text(int code);
