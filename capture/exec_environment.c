#include "capture/exec_environment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "capture/message.h"
#include "capture/os.h"
#include "capture/program_image.h"
#include "capture/program_search.h"

static const char preload_name[] = "LD_PRELOAD=";
static const char own_name[] = "libmprof.so";

#define PRELOAD_NAME_LENGTH (sizeof preload_name - 1)
#define OWN_NAME_LENGTH (sizeof own_name - 1)

static bool exec_is_preload(const char *entry)
{
    return strncmp(entry, preload_name, PRELOAD_NAME_LENGTH) == 0;
}

/* The loader takes spaces and colons. */
static size_t exec_part_length(const char *part)
{
    return strcspn(part, ": ");
}

static bool exec_part_is_own(const char *part, size_t length)
{
    return length >= OWN_NAME_LENGTH &&
           strncmp(part + length - OWN_NAME_LENGTH, own_name, OWN_NAME_LENGTH) == 0 &&
           (length == OWN_NAME_LENGTH || part[length - OWN_NAME_LENGTH - 1] == '/');
}

static bool exec_preloads_own(const char *entry)
{
    const char *part = entry + PRELOAD_NAME_LENGTH;
    for (;;) {
        size_t length = exec_part_length(part);
        if (exec_part_is_own(part, length))
            return true;
        if (!part[length])
            return false;
        part += length + 1;
    }
}

/* All entries; 0 where the recorder is not among those that are preloaded. */
static size_t exec_count(char *const envp[])
{
    size_t count = 0;
    bool preloaded = false;
    for (; envp && envp[count]; count++)
        preloaded = preloaded || (exec_is_preload(envp[count]) && exec_preloads_own(envp[count]) &&
                                  strlen(envp[count]) < EXEC_PRELOAD_MAX);
    return preloaded ? count + 1 : 0;
}

/* What is executed: the descriptor of a file that can be read, or a negative errno. */
static int exec_open(int directory, const char *path, int flags)
{
    struct stat status;
    char own[32] = "/proc/self/fd/", digits[24];
    if (!*path && (flags & AT_EMPTY_PATH)) {
        if (directory < 0)
            return -EBADF;
        /* Opened anew, since the descriptor may be one that is not for reading. */
        digits[sizeof digits - 1] = 0;
        const char *number = os_decimal(digits + sizeof digits - 1, (uint64_t)directory);
        memcpy(own + strlen(own), number, strlen(number) + 1);
        path = own;
        flags = 0;
    }
    const int descriptor = (int)os_call(SYS_openat, directory, (long)path,
                                        O_RDONLY | O_CLOEXEC | O_NONBLOCK |
                                            (flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0),
                                        0, 0, 0);
    if (descriptor >= 0 && os_status(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
        (status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)))
        return descriptor;
    if (descriptor >= 0)
        os_close(descriptor);
    return descriptor < 0 ? descriptor : -EACCES;
}

/* Of a script it is the interpreter that counts. Closes the descriptor. */
static enum program_kind exec_kind(int descriptor)
{
    char path[PATH_MAX];
    enum program_kind kind = PROGRAM_DYNAMIC;
    for (int depth = 0; descriptor >= 0 && depth <= PROGRAM_SCRIPTS_MAX; depth++) {
        kind = program_image_read(descriptor);
        const bool script = program_image_interpreter(descriptor, path, sizeof path);
        os_close(descriptor);
        descriptor = script ? exec_open(AT_FDCWD, path, 0) : -ENOENT;
    }
    if (descriptor >= 0)
        os_close(descriptor);
    return kind;
}

/* How many there are of `count` where the program is one that is not to be recorded. */
static size_t exec_entries(int descriptor, size_t count)
{
    const enum program_kind kind = exec_kind(descriptor);
    if (kind == PROGRAM_SANITIZED)
        message_line("a program that is executed is built with a sanitizer, and runs unrecorded",
                     NULL);
    else if (kind == PROGRAM_OTHER_LIBC)
        message_line("a program that is executed has another C library than glibc, and runs "
                     "unrecorded",
                     NULL);
    else
        return 0;
    return count;
}

size_t exec_environment_entries_at(int directory, const char *path, int flags, char *const envp[])
{
    const size_t count = exec_count(envp);
    return path && count ? exec_entries(exec_open(directory, path, flags), count) : 0;
}

size_t exec_environment_entries_of(int descriptor, char *const envp[])
{
    return exec_environment_entries_at(descriptor, "", AT_EMPTY_PATH, envp);
}

size_t exec_environment_entries(const char *file, bool search, char *const envp[])
{
    struct program_search places;
    char path[PATH_MAX];
    const size_t count = exec_count(envp);
    int descriptor = -ENOENT;
    if (!file || count == 0)
        return 0;
    if (!search)
        return exec_environment_entries_at(AT_FDCWD, file, 0, envp);
    program_search_begin(&places, file);
    while (descriptor < 0 && program_search_next(&places, path, sizeof path))
        descriptor = exec_open(AT_FDCWD, path, 0);
    return exec_entries(descriptor, count);
}

void exec_environment_fill(char *const envp[], char **entries, char preload[EXEC_PRELOAD_MAX])
{
    size_t count = 0, used = PRELOAD_NAME_LENGTH;
    memcpy(preload, preload_name, PRELOAD_NAME_LENGTH);
    for (; *envp; envp++) {
        if (!exec_is_preload(*envp) || strlen(*envp) >= EXEC_PRELOAD_MAX) {
            entries[count++] = *envp;
            continue;
        }
        for (const char *part = *envp + PRELOAD_NAME_LENGTH;;) {
            size_t length = exec_part_length(part);
            if (length && !exec_part_is_own(part, length)) {
                if (used > PRELOAD_NAME_LENGTH)
                    preload[used++] = ':';
                memcpy(preload + used, part, length);
                used += length;
            }
            if (!part[length])
                break;
            part += length + 1;
        }
        preload[used] = 0;
        if (used > PRELOAD_NAME_LENGTH)
            entries[count++] = preload;
    }
    entries[count] = NULL;
}
