/* SPDX-License-Identifier: BSD-2-Clause */
/* The system calls that the recorder makes, and the ones that filters forbid. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"
#include "capture/os/seccomp/seccomp.h"

#define CALL(call, is_needed, ...)                                                                 \
    {                                                                                              \
        .name = #call, .number = SYS_##call, .needed = (is_needed), .arguments = { __VA_ARGS__ }   \
    }
#define NO_DESCRIPTOR ((uint64_t)-1) /* the call then does nothing */

/* prctl comes first: it keeps a process that tries the others from leaving a core file. */
const struct required_call required_calls[] = {
    CALL(prctl, false, PR_SET_DUMPABLE, 0),
    CALL(prlimit64, false, 0, RLIMIT_FSIZE),
    CALL(openat, true, (uint64_t)AT_FDCWD, 0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600),
    CALL(close, true, NO_DESCRIPTOR),
    CALL(mmap, true, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, NO_DESCRIPTOR, 0),
    CALL(munmap, true, 0, 0),
    CALL(getpid, true, 0),
    CALL(gettid, true, 0),
    CALL(rt_sigprocmask, true, NO_DESCRIPTOR, 0, 0, 8),
    CALL(kill, true, 1, 0),
    CALL(read, false, NO_DESCRIPTOR),
    CALL(write, false, NO_DESCRIPTOR),
    CALL(pread64, false, NO_DESCRIPTOR),
    CALL(pwrite64, false, NO_DESCRIPTOR),
    CALL(pwritev2, false, NO_DESCRIPTOR, 0, 0, 0, 0, RWF_APPEND),
    CALL(fstat, false, NO_DESCRIPTOR),
    CALL(newfstatat, false, NO_DESCRIPTOR, 0, 0, AT_EMPTY_PATH),
    CALL(fallocate, false, NO_DESCRIPTOR, 0, 0, 4096),
    CALL(fstatfs, false, NO_DESCRIPTOR, 0),
    CALL(fcntl, false, NO_DESCRIPTOR, F_DUPFD_CLOEXEC, 0),
    CALL(mprotect, false, 0, 0),
    CALL(mlock, false, 0, 0),
    CALL(munlock, false, 0, 0),
    CALL(mlockall, false, 0),
    CALL(munlockall, false, 0),
    CALL(madvise, false, 0, 0, MADV_WIPEONFORK),
    CALL(readlinkat, false, (uint64_t)AT_FDCWD),
    CALL(faccessat, false, (uint64_t)AT_FDCWD),
    CALL(fgetxattr, false, NO_DESCRIPTOR),
    CALL(getresuid, false, 0),
    CALL(getresgid, false, 0),
    CALL(ftruncate, false, NO_DESCRIPTOR),
    CALL(getcwd, false, 0),
    CALL(unlink, false, 0),
    CALL(mkdir, false, 0, 0700),
    CALL(renameat2, false, NO_DESCRIPTOR, 0, NO_DESCRIPTOR, 0, 0),
    CALL(mremap, false, 1, 0, 0, 0),
    CALL(uname, false, 0),
    CALL(getppid, false, 0),
    CALL(tgkill, false, 1, 1, 0),
    CALL(rt_tgsigqueueinfo, false, 1, 1, 0, 0),
    CALL(rt_sigaction, false, SIGUSR1, 0, 0, 8),
    CALL(getrandom, false, 0, 0, GRND_NONBLOCK),
    CALL(sigaltstack, false, 0),
    CALL(sched_yield, false, 0),
    CALL(nanosleep, false, 0),
    CALL(clock_gettime, false, CLOCK_MONOTONIC, 0),
    CALL(membarrier, false, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED),
    CALL(process_vm_readv, false, 1),
    CALL(pidfd_open, false, 0),
};

const size_t required_calls_count = sizeof(required_calls) / sizeof(*required_calls);

_Static_assert(sizeof(required_calls) / sizeof(*required_calls) <= REQUIRED_CALLS_MAX,
               "a set of them has room");

ARCH_ALIGNS_STACK size_t required_calls_forbidden(char *text, bool *possible)
{
    size_t count = 0;
    for (size_t i = 0; i < required_calls_count; i++) {
        const struct required_call *call = &required_calls[i];
        if (seccomp_filters_allow(call->number, call->arguments))
            continue;
        *possible = *possible && !call->needed;
        if (text) {
            const char *number = OS_DECIMAL(call->number);
            if (count)
                *text++ = ':';
            memcpy(text, number, strlen(number) + 1);
            text += strlen(number);
        }
        count++;
    }
    return count;
}

#ifndef PTRACE_SECCOMP_GET_FILTER
#define PTRACE_SECCOMP_GET_FILTER 0x420c
#endif
#define STATEMENTS_MAX 4096 /* of one filter: BPF_MAXINSNS */

static long get_filter(int thread, unsigned long number, struct sock_filter *statements)
{
    return os_call(SYS_ptrace, PTRACE_SECCOMP_GET_FILTER, thread, (long)number, (long)statements, 0,
                   0);
}

bool seccomp_filters_add_of(int thread)
{
    static struct sock_filter statements[STATEMENTS_MAX];
    for (unsigned long i = 0;; i++) {
        const long count = get_filter(thread, i, NULL);
        if (count < 0)
            return i > 0 && count == -ENOENT;
        const struct sock_fprog program = {(unsigned short)count, statements};
        if (count > STATEMENTS_MAX || get_filter(thread, i, statements) < 0)
            return false;
        seccomp_filters_add(&program);
    }
}
