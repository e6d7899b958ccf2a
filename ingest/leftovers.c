#include "ingest/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The process that made the file of that name; 0: it is none of ours. `base` is the session's. */
static pid_t maker_of(const char *name, const char *base)
{
    static const char *const behind[] = {".all", ".one", ".all.part", ".one.part"};
    size_t length = strlen(base);
    if (strncmp(name, base, length) != 0)
        return 0;
    name += length;
    bool live = strncmp(name, ".part.", 6) == 0;
    name += live ? 6 : 1;
    if ((!live && name[-1] != '.') || name[0] < '1' || name[0] > '9')
        return 0;
    char *end;
    errno = 0;
    long pid = strtol(name, &end, 10);
    bool ours = live && *end == '\0';
    for (size_t i = 0; !live && i < sizeof behind / sizeof *behind; i++)
        ours = ours || strcmp(end, behind[i]) == 0;
    return ours && errno == 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

/* Page 1 of a database comes late: until then there is nothing, or a hole. */
static bool is_database(int descriptor)
{
    static const char magic[16] = "SQLite format 3", nothing[16];
    char begin[16];
    ssize_t length = pread(descriptor, begin, sizeof begin, 0);
    return length == 0 ||
           (length == (ssize_t)sizeof begin &&
            (memcmp(begin, magic, sizeof begin) == 0 || memcmp(begin, nothing, sizeof begin) == 0));
}

/* A process of another container may have a number that is free here: its locks are seen. */
static bool is_locked(int descriptor)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return flock(descriptor, LOCK_EX | LOCK_NB) != 0 || fcntl(descriptor, F_GETLK, &lock) != 0 ||
           lock.l_type != F_UNLCK;
}

static void remove_unused(int folder, const char *name)
{
    struct stat about;
    int descriptor = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return;
    if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
        is_database(descriptor) && !is_locked(descriptor))
        unlinkat(folder, name, 0);
    close(descriptor);
}

void leftovers_remove(const char *target)
{
    const char *slash = strrchr(target, '/'), *base = slash == NULL ? target : slash + 1;
    char *path = slash == NULL ? strdup(".") : strndup(target, (size_t)(slash + 1 - target));
    DIR *folder = path == NULL ? NULL : opendir(path);
    free(path);
    if (folder == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        pid_t maker = maker_of(entry->d_name, base);
        if (maker != 0 && kill(maker, 0) != 0 && errno == ESRCH)
            remove_unused(dirfd(folder), entry->d_name);
    }
    closedir(folder);
}
