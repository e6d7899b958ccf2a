/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/follow_process.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns when the process began, by the real-time clock. UINT64_MAX: unknown. */
static uint64_t begin_of(uint32_t pid)
{
    enum { FIELDS_BEFORE = 20 }; /* of /proc/PID/stat, after the program's name: proc(5) */
    char path[64], text[1024];
    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = descriptor < 0 ? -1 : read(descriptor, text, sizeof(text) - 1);
    if (descriptor >= 0)
        close(descriptor);
    if (length <= 0)
        return UINT64_MAX;
    text[length] = '\0';
    const char *at = strrchr(text, ')');
    for (int i = 0; at && i < FIELDS_BEFORE; i++)
        at = strchr(at + 1, ' ');
    if (!at)
        return UINT64_MAX;
    uint64_t ticks = strtoull(at, NULL, 10), boot = clock_ns(CLOCK_BOOTTIME);
    return clock_ns(CLOCK_REALTIME) - boot + ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

int follow_process_open(uint32_t pid, uint64_t since_ns)
{
    static const uint64_t tolerance_ns = 2000000000; /* the clock may have been set a little */
    int descriptor = (int)syscall(SYS_pidfd_open, pid, 0);
    uint64_t begin = begin_of(pid);
    if (descriptor >= 0 && (begin == UINT64_MAX || begin > since_ns + tolerance_ns)) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

bool follow_process_wait(int descriptor, int milliseconds)
{
    struct pollfd ended = {.fd = descriptor, .events = POLLIN};
    return poll(&ended, 1, milliseconds) > 0;
}
