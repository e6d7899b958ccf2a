/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/stale_outputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/base/output_file.h"
#include "schemas/trace_layout.h"

/* Returns true if the file is a database or a trace. Page 1 of a database is written late. Until
 * then the file is empty or begins with a hole. */
static bool is_of_ours(int descriptor)
{
    static const char database[16] = "SQLite format 3", nothing[16];
    char begin[16];
    ssize_t length = pread(descriptor, begin, sizeof(begin), 0);
    return length == 0 || (length == (ssize_t)sizeof(begin) &&
                           (memcmp(begin, database, sizeof(begin)) == 0 ||
                            memcmp(begin, nothing, sizeof(begin)) == 0 ||
                            memcmp(begin, TRACE_MAGIC, sizeof(TRACE_MAGIC) - 1) == 0));
}

/* Returns true if the file is locked. A process of another container may have a number that is free
 * here, but its locks can be seen. */
static bool is_locked(int descriptor)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return flock(descriptor, LOCK_EX | LOCK_NB) != 0 || fcntl(descriptor, F_GETLK, &lock) != 0 ||
           lock.l_type != F_UNLCK;
}

enum state { IN_USE, UNUSED, UNKNOWN };

static enum state look(int folder, const char *name, pid_t maker)
{
    struct stat about;
    enum state state = UNKNOWN;
    int descriptor = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return UNKNOWN;
    const bool runs = maker != getpid() && (kill(maker, 0) == 0 || errno != ESRCH);
    if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
        is_of_ours(descriptor)) {
        const bool locked = is_locked(descriptor);
        if (runs == locked)
            state = locked ? IN_USE : UNUSED;
    }
    close(descriptor);
    return state;
}

bool stale_outputs_remove(const char *target, struct ingest_status *status)
{
    const char *base = basename(target);
    char *path = base == target ? strdup(".") : strndup(target, (size_t)(base - target));
    DIR *folder = !path ? NULL : opendir(path);
    bool free_to_write = true;
    free(path);
    if (!folder)
        return true;
    for (struct dirent *entry; (entry = readdir(folder));) {
        pid_t maker = output_file_maker(entry->d_name, base);
        enum state state = maker == 0 ? UNKNOWN : look(dirfd(folder), entry->d_name, maker);
        if (state == UNUSED)
            unlinkat(dirfd(folder), entry->d_name, 0);
        if (state == IN_USE)
            free_to_write = ingest_fail(status, INGEST_BAD_INPUT,
                                        "%s: another mprof-ingest (process %d) is writing it; wait "
                                        "for it, or name another session with -o",
                                        target, (int)maker);
    }
    closedir(folder);
    return free_to_write;
}
