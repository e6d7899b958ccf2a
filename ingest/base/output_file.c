/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ATTEMPTS 100
#define INFIX ".part."
#define RANDOM_DIGITS 12

/* Allows a target that does not exist, and with `force` a regular file. It does not follow a link,
 * because the rename would replace the link. */
static bool check_target(const char *target, bool force, struct ingest_status *status)
{
    struct stat about;
    if (lstat(target, &about) != 0)
        return errno == ENOENT || ingest_fail(status, INGEST_BAD_INPUT, "%s: cannot be written: %s",
                                              target, strerror(errno));
    if (S_ISREG(about.st_mode))
        return force || ingest_fail(status, INGEST_BAD_INPUT,
                                    "%s: exists already; replace it with --force, or name another "
                                    "with -o",
                                    target);
    return ingest_fail(status, INGEST_BAD_INPUT,
                       "%s: %s, and only regular files are replaced; name another with -o", target,
                       S_ISDIR(about.st_mode)   ? "is a directory"
                       : S_ISLNK(about.st_mode) ? "is a symbolic link"
                                                : "is not a regular file");
}

static uint64_t random_number(void)
{
    uint64_t number;
    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number)) {
        struct timespec now = {0};
        clock_gettime(CLOCK_REALTIME, &now);
        number = ((uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^ (uintptr_t)&number) *
                 UINT64_C(0x9E3779B97F4A7C15);
    }
    return number & ((UINT64_C(1) << 4 * RANDOM_DIGITS) - 1);
}

/* Locks the new file. False if another process took it for a leftover and removed it. */
static bool lock(const struct output_file *file)
{
    struct stat locked, named;
    return flock(file->descriptor, LOCK_EX | LOCK_NB) == 0 &&
           fstat(file->descriptor, &locked) == 0 && lstat(file->part, &named) == 0 &&
           locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
}

static bool make_part(struct output_file *file, struct ingest_status *status)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        free(file->part);
        if (asprintf(&file->part, "%s" INFIX "%d.%0*" PRIx64, file->target, (int)getpid(),
                     RANDOM_DIGITS, random_number()) < 0) {
            file->part = NULL;
            return ingest_fail_memory(status, "a name");
        }
        file->descriptor =
            open(file->part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (file->descriptor >= 0 && lock(file))
            return true;
        const int error = file->descriptor >= 0 ? EAGAIN : errno;
        if (file->descriptor >= 0)
            close(file->descriptor);
        file->descriptor = -1;
        if (error != EAGAIN && error != EEXIST)
            return ingest_fail(status, INGEST_BAD_INPUT,
                               "%s: cannot be created: %s; name another place with -o",
                               file->target, strerror(error));
    }
    return ingest_fail(status, INGEST_BAD_INPUT,
                       "%s: other programs remove the files made beside it; name another place "
                       "with -o",
                       file->target);
}

bool output_file_begin(struct output_file *file, const char *target, bool force,
                       struct ingest_status *status)
{
    *file = (struct output_file){.target = strdup(target), .descriptor = -1, .force = force};
    if (!file->target)
        return ingest_fail_memory(status, "a name");
    return check_target(target, force, status) && make_part(file, status);
}

bool output_file_finish(struct output_file *file, struct ingest_status *status)
{
    if (!check_target(file->target, file->force, status))
        return false;
    /* Another file may get the name between check and rename. Without force it stays. */
    const unsigned flags = file->force ? 0 : RENAME_NOREPLACE;
    if (renameat2(AT_FDCWD, file->part, AT_FDCWD, file->target, flags) != 0 &&
        /* Some file systems do not know the flags. */
        (errno != EINVAL || flags == 0 || rename(file->part, file->target) != 0))
        return ingest_fail(status, INGEST_BAD_INPUT, "%s: cannot be renamed to %s: %s", file->part,
                           file->target, strerror(errno));
    return file->finished = true;
}

static bool remove_logs(const char *target, struct ingest_status *status)
{
    static const char *const ends[] = {"-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        char *log;
        if (asprintf(&log, "%s%s", target, ends[i]) < 0)
            return ingest_fail_memory(status, "the session");
        unlink(log);
        free(log);
    }
    return true;
}

bool output_file_finish_database(struct output_file *file, struct ingest_status *status)
{
    return check_target(file->target, file->force, status) && remove_logs(file->target, status) &&
           output_file_finish(file, status);
}

void output_file_end(struct output_file *file)
{
    if (file->descriptor >= 0 && !file->finished)
        unlink(file->part);
    if (file->descriptor >= 0)
        close(file->descriptor);
    free(file->target);
    free(file->part);
    *file = (struct output_file){.descriptor = -1};
}

pid_t output_file_maker(const char *name, const char *base)
{
    long pid = 0;
    const size_t length = strlen(base);
    if (strncmp(name, base, length) != 0)
        return 0;
    for (name += length; *name != '\0'; name += RANDOM_DIGITS) {
        char *end;
        if (strncmp(name, INFIX, sizeof(INFIX) - 1) != 0)
            return 0;
        name += sizeof(INFIX) - 1;
        if (*name < '1' || *name > '9')
            return 0;
        errno = 0;
        pid = strtol(name, &end, 10);
        if (errno != 0 || pid > INT32_MAX || *end != '.')
            return 0;
        name = end + 1;
        if (strspn(name, "0123456789abcdef") != RANDOM_DIGITS)
            return 0;
    }
    return (pid_t)pid;
}

/* ---- whole --------------------------------------------------------------------------------- */

/* Writes at `place`, or where the file stands: -1. */
static int write_all(int descriptor, const void *bytes, size_t size, off_t place)
{
    for (size_t done = 0; done < size;) {
        const char *at = (const char *)bytes + done;
        const ssize_t count = place < 0 ? write(descriptor, at, size - done)
                                        : pwrite(descriptor, at, size - done, place + (off_t)done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return count < 0 ? errno : ENOSPC;
        done += (size_t)count;
    }
    return 0;
}

int write_whole(int descriptor, const void *bytes, size_t size)
{
    return write_all(descriptor, bytes, size, -1);
}

int write_whole_at(int descriptor, const void *bytes, size_t size, uint64_t place)
{
    return place > INT64_MAX ? EFBIG : write_all(descriptor, bytes, size, (off_t)place);
}

size_t read_whole(int descriptor, void *bytes, size_t size, uint64_t place)
{
    ssize_t count = 0;
    size_t done = 0;
    errno = 0;
    while (done < size && ((count = pread(descriptor, (char *)bytes + done, size - done,
                                          (off_t)(place + done))) > 0 ||
                           (count < 0 && errno == EINTR)))
        done += count > 0 ? (size_t)count : 0;
    if (count == 0)
        errno = 0;
    return done;
}
