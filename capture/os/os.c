/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "capture/os/arch_x86_64.h"

#define RANGES_MAX 4096u
#define TAKEN 1u /* a start that is not known yet */

/* Read from outside as pairs: trace-format.md, own_ranges. */
static struct range {
    _Atomic uintptr_t start; /* 0: free */
    _Atomic size_t size;
} ranges[RANGES_MAX];
_Static_assert(sizeof(struct range) == 16, "two numbers");
static _Atomic bool told[RANGES_MAX]; /* the trace has it as it is now */
static _Atomic uint32_t ranges_end;   /* those from here on have never been used */
static _Atomic bool locks_new;

void own_ranges_add(void *memory, size_t size)
{
    size = (size + ARCH_PAGE_SIZE - 1) & ~(size_t)(ARCH_PAGE_SIZE - 1);
    for (uint32_t i = 0; i < RANGES_MAX; i++) {
        uintptr_t none = 0;
        if (!atomic_compare_exchange_strong(&ranges[i].start, &none, TAKEN))
            continue;
        uint32_t end = atomic_load(&ranges_end);
        while (end <= i && !atomic_compare_exchange_weak(&ranges_end, &end, i + 1))
            ;
        atomic_store(&ranges[i].size, size);
        atomic_store(&ranges[i].start, (uintptr_t)memory);
        atomic_store(&told[i], false);
        break;
    }
}

/* Forgets it, before it is unmapped. `memory` is the beginning of a mapping that was noted. */
static void own_ranges_remove(const void *memory)
{
    const uint32_t end = atomic_load(&ranges_end);
    for (uint32_t i = 0; i < end; i++) {
        uintptr_t start = (uintptr_t)memory;
        if (atomic_compare_exchange_strong(&ranges[i].start, &start, 0)) {
            atomic_store(&told[i], false);
            return;
        }
    }
}

void own_ranges_set_locked(bool locked)
{
    atomic_store(&locks_new, locked);
}

const void *own_ranges_list(uint32_t *count)
{
    *count = RANGES_MAX;
    return ranges;
}

bool own_ranges_next(uint32_t *at, uintptr_t *start, size_t *size)
{
    while (*at < atomic_load(&ranges_end)) {
        const struct range *range = &ranges[(*at)++];
        *start = atomic_load(&range->start);
        *size = atomic_load(&range->size);
        if (*start > TAKEN)
            return true;
    }
    return false;
}

bool own_ranges_next_news(uint32_t *at, uintptr_t *start, size_t *size)
{
    while (*at < atomic_load(&ranges_end)) {
        const uint32_t i = (*at)++;
        const struct range *range = &ranges[i];
        if (atomic_load_explicit(&told[i], memory_order_relaxed) || atomic_exchange(&told[i], true))
            continue;
        *start = atomic_load(&range->start);
        *size = *start > TAKEN ? atomic_load(&range->size) : 0;
        return true;
    }
    return false;
}

void own_ranges_renew(void)
{
    const uint32_t end = atomic_load(&ranges_end);
    for (uint32_t i = 0; i < end; i++)
        atomic_store(&told[i], atomic_load(&ranges[i].start) == 0);
}

/* If a handler leaves a call by longjmp, the call stays counted, so no wait is endless. */
#define CALL_TURNS 10000u

static bool (*_Atomic permission_check)(long number, const uint64_t arguments[6]);
static _Atomic uint32_t calls_under_way; /* calls of all threads, from before they ask */
static _Atomic uint32_t forks_so_far;    /* forks from the first process to this one */

bool os_is_relocated(void)
{
    static const void *const volatile own = (const void *)&own;
    return own == (const void *)&own;
}

void os_set_permission_check(bool (*permits)(long number, const uint64_t arguments[6]))
{
    atomic_store(&permission_check, permits);
    for (unsigned turn = 0; turn < CALL_TURNS && atomic_load(&calls_under_way); turn++)
        os_yield();
}

void os_forked(void)
{
    atomic_fetch_add(&forks_so_far, 1);
    atomic_store(&calls_under_way, 0);
    own_ranges_set_locked(false);
}

bool os_is_confined(void)
{
    return atomic_load_explicit(&permission_check, memory_order_relaxed) != NULL;
}

long os_call(long number, long a, long b, long c, long d, long e, long f)
{
    long result = -EPERM;
    const uint32_t forks = atomic_load_explicit(&forks_so_far, memory_order_relaxed);
    atomic_fetch_add(&calls_under_way, 1);
    bool (*permits)(long, const uint64_t[6]) = atomic_load(&permission_check);
    const uint64_t arguments[6] = {(uint64_t)a, (uint64_t)b, (uint64_t)c,
                                   (uint64_t)d, (uint64_t)e, (uint64_t)f};
    if (!permits || permits(number, arguments))
        result = arch_syscall(number, a, b, c, d, e, f);
    /* If a handler forked since, the child does not count this call any more. */
    if (atomic_load_explicit(&forks_so_far, memory_order_relaxed) == forks)
        atomic_fetch_sub(&calls_under_way, 1);
    return result;
}

long os_call_retry(long number, long a, long b, long c, long d)
{
    long result;
    do
        result = os_call(number, a, b, c, d, 0, 0);
    while (result == -EINTR);
    return result;
}

static long call3(long number, long a, long b, long c)
{
    return os_call(number, a, b, c, 0, 0, 0);
}

static void *map_unnoted(size_t size)
{
    const bool locked = atomic_load_explicit(&locks_new, memory_order_relaxed);
    const long access = PROT_READ | PROT_WRITE;
    const long result = os_call(SYS_mmap, 0, (long)size, locked ? PROT_NONE : access,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (result < 0 && result > -4096)
        return NULL;
    if (locked) {
        call3(SYS_munlock, result, (long)size, 0);
        if (call3(SYS_mprotect, result, (long)size, access) != 0) {
            call3(SYS_munmap, result, (long)size, 0);
            return NULL;
        }
    }
    return (void *)result;
}

void *os_map(size_t size)
{
    void *memory = map_unnoted(size);
    if (memory)
        own_ranges_add(memory, size);
    return memory;
}

void *os_map_once(_Atomic(void *) *place, size_t size)
{
    void *there = atomic_load_explicit(place, memory_order_acquire);
    if (there)
        return there;
    void *made = os_map(size);
    if (!made || atomic_compare_exchange_strong(place, &there, made))
        return made;
    os_unmap(made, size);
    return there;
}

void os_unmap(void *memory, size_t size)
{
    own_ranges_remove(memory);
    call3(SYS_munmap, (long)memory, (long)size, 0);
}

void *os_map_large(size_t *size)
{
    const size_t rounded = (*size + OS_LARGE_PAGE - 1) & ~(OS_LARGE_PAGE - 1);
    const size_t room = rounded + OS_LARGE_PAGE;
    uint8_t *memory = map_unnoted(room);
    if (!memory)
        return NULL;
    size_t before = -(uintptr_t)memory & (OS_LARGE_PAGE - 1);
    if (before == 0)
        before = OS_LARGE_PAGE;
    if (before > ARCH_PAGE_SIZE)
        os_unmap(memory, before - ARCH_PAGE_SIZE);
    if (before < OS_LARGE_PAGE)
        os_unmap(memory + before + rounded, OS_LARGE_PAGE - before);
    call3(SYS_madvise, (long)(memory + before), (long)rounded, MADV_HUGEPAGE);
    own_ranges_add(memory + before - ARCH_PAGE_SIZE, ARCH_PAGE_SIZE + rounded);
    *size = rounded;
    return memory + before;
}

void os_discard(void *memory, size_t size)
{
    call3(SYS_madvise, (long)memory, (long)size, MADV_DONTNEED);
}

/* Moves a descriptor to a high number. A program that closes all descriptors in another thread and
 * then opens a file gets the lowest free number. That may be the number of a file that is being
 * read here and closed afterwards. The program does not get a high number. */
static int move_descriptor_up(int descriptor)
{
    static const long places[] = {1000, 200};
    long raised = -EBADF;
    for (size_t i = 0; i < sizeof(places) / sizeof(*places) && raised < 0 && descriptor >= 0; i++)
        raised = os_call(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, places[i], 0, 0, 0);
    if (raised < 0)
        return descriptor;
    os_close(descriptor);
    return (int)raised;
}

int os_open_read(const char *path)
{
    return move_descriptor_up((int)os_call(SYS_openat, AT_FDCWD, (long)path,
                                           O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, 0, 0));
}

long os_read(int descriptor, void *buffer, size_t size)
{
    return os_call_retry(SYS_read, descriptor, (long)buffer, (long)size, 0);
}

void os_close(int descriptor)
{
    call3(SYS_close, descriptor, 0, 0);
}

/* Tries both calls: a filter that was made from the calls of a C library knows only one of them. */
int os_status(int descriptor, struct stat *status)
{
    const long result = call3(SYS_fstat, descriptor, (long)status, 0);
    return result != -EPERM && result != -ENOSYS
               ? (int)result
               : (int)os_call(SYS_newfstatat, descriptor, (long)"", (long)status, AT_EMPTY_PATH, 0,
                              0);
}

long os_read_link(const char *path, char *buffer, size_t size)
{
    long length =
        os_call(SYS_readlinkat, AT_FDCWD, (long)path, (long)buffer, (long)(size - 1), 0, 0);
    buffer[length > 0 ? length : 0] = 0;
    return length;
}

static bool avoids_other_memory;

void os_avoid_other_memory(void)
{
    avoids_other_memory = true;
}

/* rt_sigprocmask with an impossible `how` first copies the set and then refuses it: EINVAL says
 * that eight bytes were readable, EFAULT that they were not. No sandbox forbids the call. */
bool os_can_read(uint64_t address)
{
    return os_call(SYS_rt_sigprocmask, -1, (long)address, 0, 8, 0, 0) == -EINVAL;
}

/* Copies memory where process_vm_readv is forbidden. All words of a page are alike. */
static size_t copy_pages(uint64_t address, void *buffer, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const uint64_t at = address + done;
        size_t part = ARCH_PAGE_SIZE - at % ARCH_PAGE_SIZE;
        if (part > size - done)
            part = size - done;
        if (!os_can_read(at & ~UINT64_C(7)))
            break;
        memcpy((char *)buffer + done, (const void *)at, part);
        done += part;
    }
    return done;
}

size_t os_copy_memory(uint64_t address, void *buffer, size_t size)
{
    if (avoids_other_memory)
        return copy_pages(address, buffer, size);
    struct iovec to = {.iov_base = buffer, .iov_len = size};
    struct iovec from = {.iov_base = (void *)address, .iov_len = size};
    /* By the thread: if the first one has ended, the process's id leads to no memory. */
    long result = os_call(SYS_process_vm_readv, os_thread_id(), (long)&to, 1, (long)&from, 1, 0);
    if (result == -EPERM || result == -ENOSYS || result == -ESRCH)
        return copy_pages(address, buffer, size);
    return result < 0 ? 0 : (size_t)result;
}

void os_yield(void)
{
    call3(SYS_sched_yield, 0, 0, 0);
}

bool os_membarrier_all(void)
{
    call3(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    return call3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0 ||
           call3(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0;
}

uint64_t os_block_signals(void)
{
    const uint64_t all = UINT64_MAX;
    uint64_t old = 0;
    os_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&old, sizeof(old), 0, 0);
    return old;
}

void os_restore_signals(uint64_t mask)
{
    os_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask), 0, 0);
}

int os_thread_id(void)
{
    return (int)call3(SYS_gettid, 0, 0, 0);
}

int os_process_id(void)
{
    return (int)call3(SYS_getpid, 0, 0, 0);
}

char *os_decimal(char *end, uint64_t number)
{
    do
        *--end = (char)('0' + number % 10);
    while (number /= 10);
    return end;
}
