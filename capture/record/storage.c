/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/storage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"
#include "schemas/trace_layout.h"

#define CHUNK_SIZE TRACE_CHUNK_SIZE_DEFAULT
#define ATTEMPTS 1000u
#define MOVE_TURNS 10000u
#define LEAST_DESCRIPTOR 64 /* programs that number descriptors themselves use lower ones */

static struct {
    _Atomic int descriptor;
    _Atomic uint32_t users; /* threads between their read of it and their last use */
    _Atomic bool writes;    /* slots were written one by one */
    dev_t device;
    ino_t inode;
    const char *path;
} storage = {.descriptor = -1};

/* It is never written, so one page of the kernel serves for all of it. A constant would take space
 * in the library's file. */
static char chunk_of_zeros[CHUNK_SIZE];

static int duplicate(int descriptor, long least)
{
    return (int)os_call_retry(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, least, 0);
}

/* Reads the status. Returns false if the descriptor is not the trace's, or no longer. */
static bool read_status(int descriptor, struct stat *status)
{
    return descriptor >= 0 && os_status(descriptor, status) == 0 &&
           status->st_dev == storage.device && status->st_ino == storage.inode;
}

static bool is_ours(int descriptor)
{
    struct stat status;
    return read_status(descriptor, &status);
}

static void close_file(int descriptor)
{
    if (is_ours(descriptor))
        os_close(descriptor);
}

/* Moves the descriptor high up, away from those that programs number themselves. */
static int raise_descriptor(int descriptor)
{
    struct rlimit limit = {0, 0};
    os_call(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit, 0, 0);
    rlim_t top = limit.rlim_cur < 1024 ? limit.rlim_cur : 1024;
    if (top < LEAST_DESCRIPTOR)
        return descriptor;
    const int raised = duplicate(descriptor, (long)top - 24);
    if (raised < 0)
        return descriptor;
    close_file(descriptor);
    return raised;
}

/* Returns a descriptor of the trace, or a negative errno. If the program has taken the number for a
 * file of its own, that file is left alone. */
static int find_descriptor(void)
{
    int descriptor = atomic_load(&storage.descriptor);
    if (is_ours(descriptor))
        return descriptor;
    long opened = os_call_retry(SYS_openat, AT_FDCWD, (long)storage.path, O_RDWR | O_CLOEXEC, 0);
    if (opened < 0)
        return (int)opened;
    if (!is_ours((int)opened)) {
        os_close((int)opened);
        return -ESTALE;
    }
    int raised = raise_descriptor((int)opened);
    /* If two threads do this at once, the loser uses the winner's descriptor. */
    if (!atomic_compare_exchange_strong(&storage.descriptor, &descriptor, raised)) {
        close_file(raised);
        return is_ours(descriptor) ? descriptor : -ESTALE;
    }
    return raised;
}

/* Returns how long a file may be. For more the kernel would send SIGXFSZ. */
static rlim_t length_limit(void)
{
    struct rlimit limit = {0, 0};
    return os_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) == 0 ? limit.rlim_cur
                                                                               : RLIM_INFINITY;
}

/* Appends zeros to the file, wherever its end is by then. Returns the kernel's result. */
static long append(int descriptor, uint64_t length)
{
    const struct iovec zeros = {chunk_of_zeros, length};
    return os_call(SYS_pwritev2, descriptor, (long)&zeros, 1, 0, 0, RWF_APPEND);
}

/* Appends the zeros of a slot to a file that ends before the slot. The first touch of a page that
 * is only reserved reads it from the file; a written page costs a third of that. The zeros are
 * appended, in whichever slot they come to lie, so they cannot hit anything that was written. If
 * this fails, all works the same, but slower. */
static void append_slot(int descriptor, uint64_t offset)
{
    struct stat status;
    if (read_status(descriptor, &status) && (uint64_t)status.st_size <= offset)
        append(descriptor, sizeof(chunk_of_zeros));
}

static bool is_unknown(long result)
{
    return result == -EOPNOTSUPP || result == -ENOSYS || result == -EPERM || result == -EINVAL;
}

/* Appends zeros up to `end`. Returns 0 or a negative errno. A file that only grew by appended bytes
 * has all its blocks. If the kernel cannot append like this, *known is false and nothing was
 * done. */
static int append_up_to(int descriptor, uint64_t end, bool *known)
{
    struct stat status;
    while (read_status(descriptor, &status)) {
        const uint64_t length = (uint64_t)status.st_size;
        if (length >= end)
            return 0;
        const uint64_t missing = end - length;
        const long result =
            append(descriptor, missing < sizeof(chunk_of_zeros) ? missing : sizeof(chunk_of_zeros));
        *known = !is_unknown(result);
        if (result <= 0)
            return result < 0 ? (int)result : -ENOSPC;
    }
    return -EBADF;
}

/* Writes zeros into the range. Returns 0 or a negative errno. */
static int write_zeros(int descriptor, uint64_t offset, uint64_t size)
{
    for (uint64_t length; size > 0; offset += length, size -= length) {
        length = size < sizeof(chunk_of_zeros) ? size : sizeof(chunk_of_zeros);
        if (!is_ours(descriptor))
            return -EBADF;
        const long result = os_call_retry(SYS_pwrite64, descriptor, (long)chunk_of_zeros,
                                          (long)length, (long)offset);
        if (result != (long)length)
            return result < 0 ? (int)result : -ENOSPC;
    }
    return 0;
}

/* Reserves the range on the disk. Returns 0 or a negative errno. Filesystems without fallocate, and
 * sandboxes that do not know it, must find the blocks by a write. That write appends, where it can
 * hit nothing. The slot itself is written if the file has a limited length, or if the program has
 * forbidden fallocate since, because holes may then be left. */
static int reserve(int descriptor, uint64_t offset, uint64_t size, rlim_t limit)
{
    if (!is_ours(descriptor))
        return -EBADF;
    long result = os_call_retry(SYS_fallocate, descriptor, 0, (long)offset, (long)size);
    if (!is_unknown(result))
        return (int)result;
    if (limit == RLIM_INFINITY && !os_is_confined() && !atomic_load(&storage.writes)) {
        bool known = true;
        result = append_up_to(descriptor, offset + size, &known);
        if (known)
            return (int)result;
    }
    /* From here on there may be holes with more of the file after them. */
    atomic_store(&storage.writes, true);
    return write_zeros(descriptor, offset, size);
}

/* Maps the range. Returns 0 or a negative errno. */
static int map_part(int descriptor, uint64_t offset, uint64_t size, void **memory)
{
    long result = os_call(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor,
                          (long)offset);
    bool failed = result < 0 && result > -4096;
    *memory = failed ? NULL : (void *)result;
    return failed ? (int)result : 0;
}

/* The part of the file that a call asks for. */
struct range {
    uint64_t offset, size;
    uint64_t first; /* bytes that are reserved; the last page is, too */
    rlim_t limit;
    void **memory; /* gets the mapping; NULL: none is wanted */
};

/* Reserves the range, with its last page first: then the file never ends within a slot, where the
 * next slot might be appended. */
static int reserve_range(int descriptor, const struct range *range)
{
    int error = 0;
    if (range->first < range->size)
        error = reserve(descriptor, range->offset + range->size - ARCH_PAGE_SIZE, ARCH_PAGE_SIZE,
                        range->limit);
    return error ? error : reserve(descriptor, range->offset, range->first, range->limit);
}

static int try_take(const struct range *range)
{
    const int descriptor = find_descriptor();
    if (descriptor < 0)
        return descriptor;
    if (range->memory && range->first == CHUNK_SIZE && range->limit == RLIM_INFINITY)
        append_slot(descriptor, range->offset);
    int error = reserve_range(descriptor, range);
    if (!error && range->memory)
        error = map_part(descriptor, range->offset, range->size, range->memory);
    if (error || is_ours(descriptor))
        return error;
    if (range->memory) {
        os_unmap(*range->memory, range->size);
        *range->memory = NULL;
    }
    return -EBADF;
}

/* Tries again if the program closes the descriptor between two calls. A program that closes all
 * descriptors over and over does that. */
static int take(struct range range)
{
    range.limit = length_limit();
    int error = range.offset + range.size > range.limit ? -EFBIG : -EBADF;
    atomic_fetch_add(&storage.users, 1);
    for (unsigned attempt = 0; attempt < ATTEMPTS && (error == -EBADF || error == -ESTALE);
         attempt++)
        error = try_take(&range);
    atomic_fetch_sub(&storage.users, 1);
    return error;
}

int trace_storage_take(uint64_t offset, uint64_t size, uint64_t first, void **memory)
{
    *memory = NULL;
    return take((struct range){.offset = offset, .size = size, .first = first, .memory = memory});
}

int trace_storage_grow(uint64_t offset, uint64_t size)
{
    return take((struct range){.offset = offset, .size = size, .first = size});
}

int trace_storage_map_other(int descriptor, uint64_t size, void **memory)
{
    *memory = NULL;
    if (size > length_limit())
        return -EFBIG;
    long result = os_call_retry(SYS_fallocate, descriptor, 0, 0, (long)size);
    if (is_unknown(result)) {
        result = os_call_retry(SYS_pwrite64, descriptor, (long)chunk_of_zeros, (long)size, 0);
        result = result == (long)size ? 0 : result < 0 ? result : -ENOSPC;
    }
    return result < 0 ? (int)result : map_part(descriptor, 0, size, memory);
}

bool trace_storage_is_in_place(void)
{
    struct stat status;
    const long opened =
        os_call_retry(SYS_openat, AT_FDCWD, (long)storage.path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
    if (opened < 0)
        return false;
    const bool same = read_status((int)opened, &status);
    os_close((int)opened);
    return same;
}

int trace_storage_begin(int descriptor, const char *path)
{
    struct stat status = {0};
    const int error = os_status(descriptor, &status);
    if (error) {
        os_close(descriptor);
        return error;
    }
    storage.device = status.st_dev;
    storage.inode = status.st_ino;
    storage.path = path;
    atomic_store(&storage.writes, false);
    atomic_store(&storage.descriptor, raise_descriptor(descriptor));
    return 0;
}

void trace_storage_end(void)
{
    close_file(atomic_exchange(&storage.descriptor, -1));
}

int trace_storage_descriptor(void)
{
    return atomic_load_explicit(&storage.descriptor, memory_order_relaxed);
}

bool trace_storage_has(int descriptor)
{
    return descriptor >= 0 && descriptor == atomic_load(&storage.descriptor) && is_ours(descriptor);
}

void trace_storage_move(int descriptor)
{
    int from = descriptor, other = duplicate(descriptor, (long)descriptor + 1);
    if (other < 0)
        other = duplicate(descriptor, LEAST_DESCRIPTOR);
    if (!atomic_compare_exchange_strong(&storage.descriptor, &from, other < 0 ? -1 : other)) {
        close_file(other);
        return;
    }
    /* Waits for a while only: a handler that left a record by longjmp stays counted as a user. */
    for (unsigned turn = 0; turn < MOVE_TURNS && atomic_load(&storage.users); turn++)
        os_yield();
}
