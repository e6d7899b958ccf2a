/* SPDX-License-Identifier: BSD-2-Clause */
/* The few services that the capture library needs from the kernel.
 *
 * All are raw system calls: errno keeps its value, nothing is allocated, and no libc symbol is
 * called that the program may have interposed. They are safe in signal handlers and at any time,
 * even before libc is ready. Results are the kernel's: a negative errno on failure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns false until the loader has relocated this library. Resolvers of indirect functions in
 * libraries that it relocates earlier may call functions here before that. Then thread-local
 * variables and the pointers in this library's data must not be used. */
bool os_is_relocated(void);

/* Makes any call by its number. -EPERM, without a call, if the program has confined itself and may
 * not make the call any more: see os_set_permission_check(). */
long os_call(long number, long a, long b, long c, long d, long e, long f);

/* Makes a call with four arguments, and repeats it if a signal interrupts it. */
long os_call_retry(long number, long a, long b, long c, long d);

/* Has each later call ask `permits` first (seccomp.h). NULL: all calls are allowed. Returns
 * when no thread is in a call for which it did not ask. */
void os_set_permission_check(bool (*permits)(long number, const uint64_t arguments[6]));
bool os_is_confined(void);

/* Forgets the calls that threads of the parent are in. For a forked child with one thread. */
void os_forked(void);

/* Returns zeroed private memory of `size` bytes (rounded up to pages), or NULL. Only pages that are
 * touched take memory. */
void *os_map(size_t size);
/* Returns what lies at `place`, which the first call maps with that size, or NULL. Threads that
 * call it at the same time get the same memory. */
void *os_map_once(_Atomic(void *) *place, size_t size);
/* Gives back what os_map() returned, with the same size. */
void os_unmap(void *memory, size_t size);
/* Keeps the mapping and drops its pages: the memory then reads as zeros. */
void os_discard(void *memory, size_t size);

#define OS_LARGE_PAGE ((size_t)2 << 20)
/* Does what os_map() does, with large pages if there are any. Rounds `*size` up to them. Returns
 * the address of the first large page; the small page before it is mapped too. */
void *os_map_large(size_t *size);

/* Opens for reading, with O_CLOEXEC. Returns the descriptor, or a negative errno. */
int os_open_read(const char *path);
/* Returns the bytes read (0: end), or a negative errno. Goes on after EINTR. */
long os_read(int descriptor, void *buffer, size_t size);
void os_close(int descriptor);
struct stat;
/* Returns 0, or a negative errno. */
int os_status(int descriptor, struct stat *status);
/* Reads the target of a link, NUL-terminated and cut to size - 1 bytes. Returns its length, or a
 * negative errno. */
long os_read_link(const char *path, char *buffer, size_t size);

/* Copies `size` bytes at `address` of this process and never faults. Returns the number of bytes
 * that could be read from the beginning (0: none). */
size_t os_copy_memory(uint64_t address, void *buffer, size_t size);
/* Returns true if the eight bytes at the address, a multiple of eight, can be read now. */
bool os_can_read(uint64_t address);
/* Makes os_copy_memory() avoid the calls that a sandbox for ordinary programs may punish. */
void os_avoid_other_memory(void);
/* Lets another thread run. */
void os_yield(void);

/* Orders the stores of all threads: this thread sees what the others have stored so far, and they
 * see what it has stored. Returns false if the kernel cannot do that. */
bool os_membarrier_all(void);

/* Blocks all signals of the calling thread, so that no handler leaves by longjmp while a table is
 * half changed. Give the result to os_restore_signals(). For rare paths: two calls. */
uint64_t os_block_signals(void);
void os_restore_signals(uint64_t mask);

/* Return the kernel's ids of the calling thread and its process. They are never cached. */
int os_thread_id(void);
int os_process_id(void);

/* Writes `number` in decimal before `end`, at most 20 bytes. Returns where it begins. */
char *os_decimal(char *end, uint64_t number);
/* Does that in an array that lasts to the end of the block. */
#define OS_DECIMAL(number) os_decimal((char[24]){0} + 23, number)

/* The mappings of the recorder's own memory, for mlockall(). Makes no system call. */

/* Notes a mapping. If there are more than 4096 at once, the others are treated as the program's. */
void own_ranges_add(void *memory, size_t size);

/* Returns the list: pairs of start and size, 8 bytes each. Mappings start above a page. */
const void *own_ranges_list(uint32_t *count);

/* Goes through the mappings. `at` begins as 0. Returns false after the last one. */
bool own_ranges_next(uint32_t *at, uintptr_t *start, size_t *size);
/* Goes through those that changed since this function last gave them. *at is then the number of the
 * range, from 1; *size 0: it is none any more. */
bool own_ranges_next_news(uint32_t *at, uintptr_t *start, size_t *size);
/* Makes all of them news: another trace begins. */
void own_ranges_renew(void);
void own_ranges_set_locked(bool locked);
