/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/attach_filters.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "capture/os/seccomp/seccomp.h"

#define STRICT 1

/* Reads the mode of one thread and the number of its filters. */
static void read_thread(pid_t process, const char *thread, long *mode, long *filters)
{
    char path[64 + 256], line[256];
    snprintf(path, sizeof(path), "/proc/%d/task/%s/status", (int)process, thread);
    FILE *status = fopen(path, "re");
    *mode = *filters = 0;
    while (status && fgets(line, sizeof(line), status)) {
        if (strncmp(line, "Seccomp:", 8) == 0)
            *mode = strtol(line + 8, NULL, 10);
        if (strncmp(line, "Seccomp_filters:", 16) == 0)
            *filters = strtol(line + 16, NULL, 10);
    }
    if (status)
        fclose(status);
}

/* Returns true if all threads have as many filters as the held one. */
static bool all_alike(pid_t process, long mode, long filters)
{
    char path[64];
    struct dirent *entry;
    bool alike = true;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
    DIR *folder = opendir(path);
    while (folder && alike && (entry = readdir(folder))) {
        long other_mode, other_filters;
        if (entry->d_name[0] == '.')
            continue;
        read_thread(process, entry->d_name, &other_mode, &other_filters);
        alike = other_mode == mode && other_filters == filters;
    }
    if (folder)
        closedir(folder);
    return alike;
}

/* Returns true if the loader may make the calls that it needs. */
static bool loader_can_work(void)
{
    static const long needed[] = {SYS_openat, SYS_read, SYS_mmap, SYS_mprotect, SYS_close};
    const uint64_t none[6] = {0};
    for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
        if (!seccomp_filters_allow(needed[i], none))
            return false;
    return true;
}

bool attach_filters_read(pid_t process, pid_t held, char *without, size_t size, char *why,
                         size_t why_size)
{
    char thread[16];
    long mode, filters;
    bool possible = true;
    snprintf(thread, sizeof(thread), "%d", (int)held);
    read_thread(process, thread, &mode, &filters);
    without[0] = '\0';
    if (!all_alike(process, mode, filters)) {
        snprintf(why, why_size,
                 "its threads have different filters of system calls; start it with "
                 "mprof-run instead");
        return false;
    }
    if (mode == 0)
        return true;
    if (mode == STRICT) {
        snprintf(why, why_size, "it may make no system calls but read and write (strict seccomp)");
        return false;
    }
    if (!seccomp_filters_add_of(held)) {
        snprintf(why, why_size,
                 "its filter of system calls cannot be read: %s; run mprof-run as root, or start "
                 "the program with mprof-run",
                 strerror(errno));
        return false;
    }
    if (size >= REQUIRED_CALLS_TEXT)
        required_calls_forbidden(without, &possible);
    if (possible && loader_can_work())
        return true;
    snprintf(why, why_size,
             "its filter of system calls forbids what the loader or the recorder "
             "needs; allow openat, mmap, mprotect and fallocate, or start the "
             "program with mprof-run before it sets the filter");
    return false;
}
