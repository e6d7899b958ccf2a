/* SPDX-License-Identifier: BSD-2-Clause */
/* Entry points of mappings: mmap, munmap, mremap and mprotect, and of mlockall and munlockall,
 * which record nothing. Without --mmap the former record who mapped large anonymous memory.
 *
 * The real calls are system calls: the C library's functions do no more, and nothing has to be
 * looked up. A program that maps memory early or in a signal handler could not wait for that.
 * Mappings that the C library makes for its own use do not come here. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "capture/entry/names.h"
#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"
#include "capture/os/process_maps.h"
#include "capture/record/events.h"
#include "capture/record/gate.h"

/* ---- locked memory ------------------------------------------------------------------------- */

/* The linker defines them: the beginning and the end of this library. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static void add_library(void)
{
    static _Atomic bool added;
    if (!atomic_exchange(&added, true))
        own_ranges_add((void *)(uintptr_t)__ehdr_start, (size_t)(_end - __ehdr_start));
}

static void unlock_own(void)
{
    uintptr_t start;
    size_t size;
    for (uint32_t at = 0; own_ranges_next(&at, &start, &size);)
        os_call(SYS_munlock, (long)start, (long)size, 0, 0, 0, 0);
}

/* Finds the own range that begins first of those that lie in [from, to). Returns its bounds, cut to
 * these; [to, to) if there is none. */
static struct process_map first_own(uint64_t from, uint64_t to)
{
    struct process_map found = {.start = to, .end = to};
    uintptr_t start;
    size_t size;
    for (uint32_t at = 0; own_ranges_next(&at, &start, &size);) {
        if (start + size <= from || start >= found.start)
            continue;
        found.start = start < from ? from : start;
        found.end = start + size < to ? start + size : to;
    }
    return found;
}

/* Locks the program's mappings one by one, which reads all their pages in. An error for one, such
 * as a mapping without any access, is none of mlockall(). */
static void lock_others(void)
{
    struct process_maps *maps = process_maps_open();
    struct process_map map;
    while (maps && process_maps_next(maps, &map))
        for (uint64_t at = map.start; at < map.end;) {
            const struct process_map own = first_own(at, map.end);
            if (own.start > at)
                os_call(SYS_mlock, (long)at, (long)(own.start - at), 0, 0, 0, 0);
            at = own.end;
        }
    if (maps)
        process_maps_close(maps);
}

static long lock_all(int flags)
{
    add_library();
    const bool by_parts = (flags & MCL_CURRENT) && !(flags & MCL_ONFAULT) && !os_is_confined();
    long result = arch_syscall(SYS_mlockall, by_parts ? flags | MCL_ONFAULT : flags, 0, 0, 0, 0, 0);
    if (by_parts && result == -EINVAL) /* a kernel before 4.4, or other flags are wrong */
        result = arch_syscall(SYS_mlockall, flags, 0, 0, 0, 0, 0);
    else if (by_parts && result == 0) {
        /* So far nothing has been read in. */
        if (flags & MCL_FUTURE)
            arch_syscall(SYS_mlockall, MCL_FUTURE, 0, 0, 0, 0, 0);
        lock_others();
    }
    if (result == 0) {
        own_ranges_set_locked((flags & MCL_FUTURE) != 0);
        unlock_own();
    }
    return result;
}

static long unlock_all(void)
{
    own_ranges_set_locked(false);
    return arch_syscall(SYS_munlockall, 0, 0, 0, 0, 0, 0);
}

/* ---- resident pages --------------------------------------------------------------------- */

/* Counts which pages of this process are resident, that is, present in its page table. The source
 * is /proc/self/pagemap. */

/* Larger ranges are not examined, because that would take longer than the program's call. */
#define RESIDENT_PAGES_MOST (UINT64_C(4) << 30)
#define ENTRIES 128u /* read at once; they lie on the stack, which may be small */
#define PRESENT (UINT64_C(1) << 63)

static bool count_pages(int file, uint64_t page, uint64_t last, uint64_t *bytes)
{
    uint64_t entries[ENTRIES];
    while (page < last) {
        const uint64_t left = (last - page) / ARCH_PAGE_SIZE;
        const uint64_t count = left < ENTRIES ? left : ENTRIES;
        const long got =
            os_call_retry(SYS_pread64, file, (long)entries, (long)(count * sizeof(*entries)),
                          (long)(page / ARCH_PAGE_SIZE * sizeof(*entries)));
        if (got < (long)sizeof(*entries))
            return false;
        for (uint64_t i = 0; i < (uint64_t)got / sizeof(*entries); i++, page += ARCH_PAGE_SIZE)
            *bytes += entries[i] & PRESENT ? ARCH_PAGE_SIZE : 0;
    }
    return true;
}

/* Counts the bytes of the range that are resident. Returns false if that cannot be found out. */
static bool resident_pages_count(uint64_t address, uint64_t length, uint64_t *bytes)
{
    const uint64_t within = address % ARCH_PAGE_SIZE;
    *bytes = 0;
    if (length > RESIDENT_PAGES_MOST || address > UINT64_MAX - length - ARCH_PAGE_SIZE)
        return false;
    const int file = os_open_read("/proc/thread-self/pagemap");
    if (file < 0)
        return false;
    const uint64_t last = (address + length + ARCH_PAGE_SIZE - 1) & ~(uint64_t)(ARCH_PAGE_SIZE - 1);
    const bool good = count_pages(file, address - within, last, bytes);
    os_close(file);
    return good;
}

#define FRAME __builtin_frame_address(0)
/* Behind all addresses of a program. */
#define ADDRESSES_END (UINT64_C(1) << 47)
/* The longest path that is recorded; a longer one is cut. */
#define PATH_LENGTH 1024u

struct mapping {
    uintptr_t address, old_address;
    size_t length;
    int protection, flags, descriptor;
    uint64_t offset;
};

/* Returns true if a system call failed: its result is then a small negative number. */
static bool failed(long result)
{
    return result < 0 && result > -4096;
}

static void *result_of(long result)
{
    if (!failed(result))
        return (void *)result;
    errno = (int)-result;
    return MAP_FAILED;
}

/* Writes the path of the mapped file into `path`. Returns its length, 0 if there is none. */
static size_t read_path(int descriptor, char *path)
{
    char link[40];
    const char prefix[] = "/proc/self/fd/";
    if (descriptor < 0)
        return 0;
    const char *number = OS_DECIMAL((uint64_t)descriptor);
    memcpy(link, prefix, sizeof(prefix) - 1);
    memcpy(link + sizeof(prefix) - 1, number, strlen(number) + 1);
    long length = os_call(SYS_readlinkat, AT_FDCWD, (long)link, (long)path, PATH_LENGTH, 0, 0);
    return length > 0 ? (size_t)length : 0;
}

static uint64_t time_since_last(const struct thread *thread, uint64_t ticks)
{
    const uint64_t last = thread->chunk.coding.ticks;
    return ticks > last ? ticks - last : 0;
}

/* Begins an extended record of at most `size` bytes with its time, address and length. */
static uint8_t *begin_record(struct thread *thread, size_t size, uint64_t ticks, uintptr_t address,
                             size_t length)
{
    uint8_t *p = thread_extended_begin(thread, size);
    if (!p)
        return NULL;
    p = trace_put_varint(p, time_since_last(thread, ticks));
    p = trace_put_varint(p, address);
    return trace_put_varint(p, length);
}

/* Without --mmap, anonymous memory of this size and more is noted, in so many records of a process.
 */
enum { MAPPED_LEAST = 64 << 10, MAPPED_MOST = 1 << 16 };
static _Atomic uint32_t mapped_records;

static bool is_noted(size_t length)
{
    return recorder_inherited.mapped && length >= MAPPED_LEAST &&
           atomic_load_explicit(&mapped_records, memory_order_relaxed) < MAPPED_MOST;
}

static void put_mapped_record(struct thread *thread, uint64_t ticks, uintptr_t address,
                              size_t length, uint32_t stack)
{
    uint8_t *p = begin_record(thread, 48, ticks, address, length);
    if (p)
        thread_extended_end(thread, TRACE_EXT_MAPPED, trace_put_varint(p, stack));
}

/* Notes who mapped the memory, without --mmap. `frame` NULL: it was unmapped. */
static void put_mapped(struct thread *thread, const void *frame, uint64_t ticks, uintptr_t address,
                       size_t length)
{
    const uint32_t stack = frame ? events_stack(thread, frame) : 0;
    if (atomic_fetch_add_explicit(&mapped_records, 1, memory_order_relaxed) + 1 >= MAPPED_MOST)
        put_mapped_record(thread, ticks, 0, ADDRESSES_END, 0);
    else
        put_mapped_record(thread, ticks, address, length, stack);
}

static void put_mapping(struct thread *thread, const void *frame, uint64_t ticks,
                        const struct mapping *mapping)
{
    if (!recorder_inherited.mappings) {
        put_mapped(thread, frame, ticks, mapping->address, mapping->length);
        return;
    }
    char path[PATH_LENGTH];
    size_t length = read_path(mapping->descriptor, path);
    uint32_t stack = events_stack(thread, frame);
    uint8_t *p = begin_record(thread, length + 100, ticks, mapping->address, mapping->length);
    if (!p)
        return;
    p = trace_put_varint(p, (uint32_t)mapping->protection);
    p = trace_put_varint(p, (uint32_t)mapping->flags);
    p = trace_put_varint(p, mapping->offset);
    p = trace_put_varint(p, stack);
    p = trace_put_varint(p, mapping->old_address);
    p = trace_put_string(p, path, length);
    thread_extended_end(thread, TRACE_EXT_MAP, p);
}

/* A mapping, or part of one, that is about to end. */
struct ending {
    uint64_t ticks;    /* before the call */
    uint64_t resident; /* its resident bytes plus 1; 0: not known */
};

static struct ending ending_of(struct thread *thread, uintptr_t address, size_t length)
{
    struct ending ending = {0, 0};
    uint64_t bytes;
    if (!thread)
        return ending;
    if (recorder_inherited.mappings && resident_pages_count(address, length, &bytes))
        ending.resident = bytes + 1;
    ending.ticks = thread_clock_before(thread);
    return ending;
}

static void put_end(struct thread *thread, const void *frame, const struct ending *ending,
                    uintptr_t address, size_t length)
{
    if (!recorder_inherited.mappings) {
        put_mapped(thread, NULL, ending->ticks, address, length);
        return;
    }
    uint32_t stack = events_stack(thread, frame);
    uint8_t *p = begin_record(thread, 72, ending->ticks, address, length);
    if (!p)
        return;
    p = trace_put_varint(p, stack);
    p = trace_put_varint(p, ending->resident);
    thread_extended_end(thread, TRACE_EXT_UNMAP, p);
}

static void put_protection(struct thread *thread, const void *frame, uint64_t ticks,
                           const struct mapping *mapping)
{
    uint32_t stack = events_stack(thread, frame);
    uint8_t *p = begin_record(thread, 64, ticks, mapping->address, mapping->length);
    if (!p)
        return;
    p = trace_put_varint(p, (uint32_t)mapping->protection);
    p = trace_put_varint(p, stack);
    thread_extended_end(thread, TRACE_EXT_PROTECT, p);
}

static struct thread *enter(const void *frame, bool noted)
{
    return __builtin_expect(recorder_inherited.mappings || noted, 0)
               ? recorder_enter(frame, RECORDER_NOTE)
               : NULL;
}

ENTRY_POINT void *mmap(void *address, size_t length, int protection, int flags, int descriptor,
                       off_t offset)
{
    const bool noted = flags & MAP_ANONYMOUS && is_noted(length);
    struct thread *thread = enter(FRAME, noted);
    long result =
        arch_syscall(SYS_mmap, (long)address, (long)length, protection, flags, descriptor, offset);
    if (thread) {
        const struct mapping mapping = {.address = (uintptr_t)result,
                                        .length = length,
                                        .protection = protection,
                                        .flags = flags,
                                        .descriptor = flags & MAP_ANONYMOUS ? -1 : descriptor,
                                        .offset = (uint64_t)offset};
        if (!failed(result))
            put_mapping(thread, FRAME, clock_after(), &mapping);
        recorder_leave();
    }
    return result_of(result);
}

void *mmap64(void *address, size_t length, int protection, int flags, int descriptor, off_t offset)
    __attribute__((alias("mmap"), visibility("default")));

ENTRY_POINT int munmap(void *address, size_t length)
{
    const bool noted = is_noted(length);
    struct thread *thread = enter(FRAME, noted);
    const struct ending ending = ending_of(thread, (uintptr_t)address, length);
    long result = arch_syscall(SYS_munmap, (long)address, (long)length, 0, 0, 0, 0);
    if (thread) {
        if (result == 0)
            put_end(thread, FRAME, &ending, (uintptr_t)address, length);
        recorder_leave();
    }
    return result_of(result) == MAP_FAILED ? -1 : 0;
}

/* Records nothing if the call fails, although it may have changed some of the pages: the kernel
 * does not say which. */
ENTRY_POINT int mprotect(void *address, size_t length, int protection)
{
    struct thread *thread = enter(FRAME, false);
    long result = arch_syscall(SYS_mprotect, (long)address, (long)length, protection, 0, 0, 0);
    if (thread) {
        if (result == 0)
            put_protection(thread, FRAME, clock_after(),
                           &(struct mapping){.address = (uintptr_t)address,
                                             .length = length,
                                             .protection = protection});
        recorder_leave();
    }
    return result_of(result) == MAP_FAILED ? -1 : 0;
}

ENTRY_POINT void *mremap(void *old, size_t old_length, size_t length, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    void *wanted = flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) ? va_arg(arguments, void *) : NULL;
    va_end(arguments);
    const bool noted = is_noted(old_length) || is_noted(length);
    struct thread *thread = enter(FRAME, noted);
    const struct ending ending = ending_of(thread, (uintptr_t)old, old_length);
    long result =
        arch_syscall(SYS_mremap, (long)old, (long)old_length, (long)length, flags, (long)wanted, 0);
    if (thread) {
        /* Ingest knows the file and the protection from the mapping that this one comes from. */
        const struct mapping mapping = {.address = (uintptr_t)result,
                                        .old_address = (uintptr_t)old,
                                        .length = length,
                                        .descriptor = -1};
        uint64_t after = clock_after();
        if (!failed(result)) {
            if (old_length != 0 && !(flags & MREMAP_DONTUNMAP))
                put_end(thread, FRAME, &ending, (uintptr_t)old, old_length);
            put_mapping(thread, FRAME, after, &mapping);
        }
        recorder_leave();
    }
    return result_of(result);
}

static int result_of_lock(long result)
{
    if (result == 0)
        return 0;
    errno = (int)-result;
    return -1;
}

/* The recorder's own memory is not locked. */
ENTRY_POINT int mlockall(int flags)
{
    return result_of_lock(lock_all(flags));
}

ENTRY_POINT int munlockall(void)
{
    return result_of_lock(unlock_all());
}
