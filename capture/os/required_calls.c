/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/required_calls.h"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define CALL(call, is_needed, ...)                                                                 \
    {                                                                                              \
        .name = #call, .number = SYS_##call, .needed = (is_needed), .arguments = { __VA_ARGS__ }   \
    }
#define NOWHERE ((uint64_t)-1)

/* prctl comes first: it keeps a process that tries the others from leaving a core file. */
const struct own_call own_calls[] = {
    CALL(prctl, false, PR_SET_DUMPABLE, 0),
    CALL(prlimit64, false, 0, RLIMIT_FSIZE),
    CALL(openat, true, (uint64_t)AT_FDCWD, 0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600),
    CALL(close, true, NOWHERE),
    CALL(mmap, true, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, NOWHERE, 0),
    CALL(munmap, true, 0, 0),
    CALL(getpid, true, 0),
    CALL(gettid, true, 0),
    CALL(rt_sigprocmask, true, NOWHERE, 0, 0, 8),
    CALL(kill, true, 1, 0),
    CALL(read, false, NOWHERE),
    CALL(write, false, NOWHERE),
    CALL(pread64, false, NOWHERE),
    CALL(pwrite64, false, NOWHERE),
    CALL(pwritev2, false, NOWHERE, 0, 0, 0, 0, RWF_APPEND),
    CALL(fstat, false, NOWHERE),
    CALL(newfstatat, false, NOWHERE, 0, 0, AT_EMPTY_PATH),
    CALL(fallocate, false, NOWHERE, 0, 0, 4096),
    CALL(fstatfs, false, NOWHERE, 0),
    CALL(fcntl, false, NOWHERE, F_DUPFD_CLOEXEC, 0),
    CALL(mprotect, false, 0, 0),
    CALL(madvise, false, 0, 0, MADV_WIPEONFORK),
    CALL(readlinkat, false, (uint64_t)AT_FDCWD),
    CALL(getcwd, false, 0),
    CALL(unlink, false, 0),
    CALL(mkdir, false, 0, 0700),
    CALL(uname, false, 0),
    CALL(getppid, false, 0),
    CALL(tgkill, false, 1, 1, 0),
    CALL(rt_sigaction, false, SIGUSR1, 0, 0, 8),
    CALL(getrandom, false, 0, 0, GRND_NONBLOCK),
    CALL(sigaltstack, false, 0),
    CALL(sched_yield, false, 0),
    CALL(nanosleep, false, 0),
    CALL(membarrier, false, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED),
    CALL(process_vm_readv, false, 1),
    CALL(pidfd_open, false, 0),
};

const size_t own_calls_count = sizeof(own_calls) / sizeof(*own_calls);

_Static_assert(sizeof(own_calls) / sizeof(*own_calls) <= OWN_CALLS_MAX, "a set of them has room");
