/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The few things that the capture library wants from the kernel.
 *
 * All are raw system calls: errno keeps its value, nothing is allocated, no libc symbol that
 * the program may have interposed is called; safe in signal handlers and at any time, before
 * libc is ready too. Results are the kernel's: a negative errno on failure.
 */
#ifndef MPROF_CAPTURE_OS_H
#define MPROF_CAPTURE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Any call by its number. -EPERM, without a call, where the program has confined itself and may
 * not make it any more: see os_permit_by().
 */
long os_call(long number, long a, long b, long c, long d, long e, long f);

/* The same of four arguments, again where a signal interrupts it. */
long os_call_again(long number, long a, long b, long c, long d);

/*
 * From here on each call is made only if `permits` says so (confinement.h). NULL: all are. Returns
 * when no thread is under way to a call that it did not ask for.
 */
void os_permit_by(bool (*permits)(long number, const uint64_t arguments[6]));
bool os_is_confined(void);

/* In a forked child, before it has other threads: what its parent's are under way to is no call of
 * this process. */
void os_forked(void);

/* Zeroed private memory of `size` bytes (rounded up to pages), or NULL. Touched pages count. */
void *os_map(size_t size);
/* Gives back what os_map() returned, with the same size. */
void os_unmap(void *memory, size_t size);
/* Keeps the mapping, drops its pages: the memory reads as zeros afterwards. */
void os_discard(void *memory, size_t size);

#define OS_LARGE_PAGE ((size_t)2 << 20)
/*
 * As os_map(), but of large pages where there are any: `*size` is rounded up to them. Returns where
 * the first one begins; a small page before that is mapped, too.
 */
void *os_map_large(size_t *size);

/* Opens for reading, with O_CLOEXEC. The descriptor, or a negative errno. */
int os_open_read(const char *path);
/* Bytes read (0: end), or a negative errno; goes on after EINTR. */
long os_read(int descriptor, void *buffer, size_t size);
void os_close(int descriptor);
struct stat;
/* 0, or a negative errno. */
int os_status(int descriptor, struct stat *status);
/* The link's target, NUL-terminated and cut to size - 1 bytes. Its length, or a negative errno. */
long os_read_link(const char *path, char *buffer, size_t size);

/*
 * Copies `size` bytes at `address` of this process without ever faulting. Returns the number of
 * bytes that could be read from the beginning (0: none).
 */
size_t os_peek(uint64_t address, void *buffer, size_t size);
/* From here on os_peek() makes no call that a sandbox for ordinary programs may punish. */
void os_avoid_other_memory(void);
/* Lets another thread run. */
void os_yield(void);

/* What all threads of the process have stored so far is seen, and they see what this one has. */
void os_order_threads(void);

/*
 * Holds back all signals of the calling thread, so that no handler leaves by longjmp while a
 * table is half changed; give the result to os_restore_signals(). For rare paths: two calls.
 */
uint64_t os_block_signals(void);
void os_restore_signals(uint64_t mask);

/* The kernel's ids of the calling thread and its process, never cached. */
int os_thread_id(void);
int os_process_id(void);

/* Writes `number` in decimal before `end` and returns where it begins; at most 20 bytes. */
char *os_decimal(char *end, uint64_t number);
/*
 * One line to standard error in one write: "mprof: ", then the strings up to a NULL, then a
 * newline; what goes past 512 bytes is cut.
 */
void os_message(const char *first, ...) __attribute__((sentinel));

#endif
