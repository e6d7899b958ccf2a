/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads and writes the files of the user's folder. */
#include "session/graphs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/store/error.h"

/* Fails with the reason of the last system call. */
static bool fail_of(struct session_error *error, const char *name, const char *what)
{
    return session_fail(error, 0, "%s: cannot be %s: %s", name, what, strerror(errno));
}

/* Opens a folder of the user's that nobody else may write to. */
static int open_own(int above, const char *name, const char *shown, bool make,
                    struct session_error *error)
{
    struct stat about;
    if (make && mkdirat(above, name, 0700) != 0 && errno != EEXIST) {
        fail_of(error, shown, "made");
        return -1;
    }
    const int folder = openat(above, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder < 0) {
        if (make || errno != ENOENT)
            fail_of(error, shown, "opened");
        return -1;
    }
    if (fstat(folder, &about) == 0 && about.st_uid == geteuid() &&
        (about.st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return folder;
    session_fail(error, 0, "%s: is not used: it belongs to another user, or others may write to it",
                 shown);
    close(folder);
    return -1;
}

/* Opens the folder in which programs keep their settings. A link to it is the user's choice. */
static int open_base(bool make, char **path, struct session_error *error)
{
    const char *given = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    struct stat about;
    /* The XDG specification has relative paths ignored. */
    const bool direct = given && given[0] == '/';
    *path = NULL;
    if (!direct && (!home || home[0] != '/')) {
        session_fail(error, 0, "no folder for settings: set HOME or XDG_CONFIG_HOME");
        return -1;
    }
    if (asprintf(path, "%s%s", direct ? given : home, direct ? "" : "/.config") < 0) {
        *path = NULL;
        session_fail_memory(error, "the folder's name");
        return -1;
    }
    /* A program that runs with another user's environment makes nothing in that user's folders. */
    if (make && (direct || (stat(home, &about) == 0 && about.st_uid == geteuid())))
        mkdir(*path, 0700);
    const int base = open(*path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (base < 0 && (make || errno != ENOENT))
        fail_of(error, *path, "opened");
    if (base >= 0 && make && fstat(base, &about) == 0 && about.st_uid != geteuid()) {
        session_fail(error, 0, "%s: is not used: it belongs to another user", *path);
        close(base);
        return -1;
    }
    return base;
}

int user_folder_open(const char *below, bool make, struct session_error *error)
{
    char *path, *shown = NULL;
    int folder = -1, inner = -1;
    const int base = open_base(make, &path, error);
    if (base >= 0 && asprintf(&shown, "%s/mprof", path) >= 0) {
        folder = open_own(base, "mprof", shown, make, error);
        free(shown);
    }
    if (folder >= 0 && below && asprintf(&shown, "%s/mprof/%s", path, below) >= 0) {
        inner = open_own(folder, below, shown, make, error);
        free(shown);
    }
    if (base >= 0)
        close(base);
    free(path);
    if (!below)
        return folder;
    if (folder >= 0)
        close(folder);
    return inner;
}

static char *read_all(int descriptor, const char *name, size_t limit, struct session_error *error)
{
    struct stat about;
    if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode))
        return session_fail_null(error, 0, "%s: is not a regular file", name);
    char *text = malloc(limit + 2);
    if (!text)
        return session_fail_memory_null(error, name);
    size_t size = 0;
    ssize_t count;
    while (size <= limit && ((count = read(descriptor, text + size, limit + 1 - size)) > 0 ||
                             (count < 0 && errno == EINTR)))
        size += count > 0 ? (size_t)count : 0;
    text[size] = '\0';
    if (size <= limit && count == 0 && strlen(text) == size)
        return text;
    if (size > limit)
        session_fail(error, 0, "%s: is longer than %zu bytes", name, limit);
    else if (count == 0)
        session_fail(error, 0, "%s: has a NUL at byte %zu: expected text", name, strlen(text));
    else
        fail_of(error, name, "read");
    free(text);
    return NULL;
}

char *user_file_read(int folder, const char *name, size_t limit, struct session_error *error)
{
    const int descriptor =
        openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) {
        if (errno == ELOOP)
            session_fail(error, 0, "%s: is a symbolic link, which is not followed", name);
        else if (errno != ENOENT)
            fail_of(error, name, "read");
        return NULL;
    }
    char *text = read_all(descriptor, name, limit, error);
    close(descriptor);
    return text;
}

static bool write_all(int descriptor, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        const ssize_t count = write(descriptor, text, left);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        text += count;
        left -= (size_t)count;
    }
    return fsync(descriptor) == 0;
}

/* Refuses what is not a regular file under that name. */
static enum user_file_result check_regular(int folder, const char *name,
                                           struct session_error *error)
{
    struct stat about;
    if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT)
            return USER_FILE_ABSENT;
        fail_of(error, name, "reached");
        return USER_FILE_FAILED;
    }
    if (S_ISREG(about.st_mode))
        return USER_FILE_EXISTS;
    session_fail(error, 0, "%s: is not a regular file, and only those are replaced or removed",
                 name);
    return USER_FILE_FAILED;
}

/* Does so without a replacement on a file system that does not know RENAME_NOREPLACE. */
static bool link_then_unlink(int folder, const char *from, const char *to)
{
    return linkat(folder, from, folder, to, 0) == 0 && unlinkat(folder, from, 0) == 0;
}

/* Gives a file another name. Replaces nothing unless `replace` is set. */
static enum user_file_result move(int folder, const char *from, const char *to, bool replace,
                                  struct session_error *error)
{
    const enum user_file_result there = check_regular(folder, to, error);
    if (there == USER_FILE_FAILED || (there == USER_FILE_EXISTS && !replace))
        return there;
    /* Another file may get the name between check and rename. */
    const unsigned flags = replace ? 0 : RENAME_NOREPLACE;
    if (renameat2(folder, from, folder, to, flags) == 0 ||
        (flags != 0 && (errno == EINVAL || errno == ENOSYS) && link_then_unlink(folder, from, to)))
        return USER_FILE_DONE;
    if (errno == EEXIST)
        return USER_FILE_EXISTS;
    fail_of(error, to, "written");
    return USER_FILE_FAILED;
}

enum user_file_result user_file_write(int folder, const char *name, const char *text, bool replace,
                                      struct session_error *error)
{
    char part[512];
    uint64_t random = 0;
    if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        fail_of(error, name, "written");
        return USER_FILE_FAILED;
    }
    snprintf(part, sizeof(part), ".%.300s.%d.%016" PRIx64, name, (int)getpid(), random);
    const int descriptor =
        openat(folder, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor < 0) {
        fail_of(error, name, "written");
        return USER_FILE_FAILED;
    }
    const bool written = write_all(descriptor, text);
    if (!written)
        fail_of(error, name, "written");
    close(descriptor);
    enum user_file_result result = USER_FILE_FAILED;
    if (written)
        result = move(folder, part, name, replace, error);
    if (result != USER_FILE_DONE)
        unlinkat(folder, part, 0);
    return result;
}

enum user_file_result user_file_rename(int folder, const char *from, const char *to,
                                       struct session_error *error)
{
    const enum user_file_result there = check_regular(folder, from, error);
    return there == USER_FILE_EXISTS ? move(folder, from, to, false, error) : there;
}

enum user_file_result user_file_remove(int folder, const char *name, struct session_error *error)
{
    const enum user_file_result there = check_regular(folder, name, error);
    if (there != USER_FILE_EXISTS)
        return there;
    if (unlinkat(folder, name, 0) == 0)
        return USER_FILE_DONE;
    fail_of(error, name, "removed");
    return USER_FILE_FAILED;
}

bool user_folder_each(int folder, bool (*visit)(void *context, const char *name), void *context,
                      struct session_error *error)
{
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = copy < 0 ? NULL : fdopendir(copy);
    if (!listing) {
        fail_of(error, "your folder", "read");
        if (copy >= 0)
            close(copy);
        return false;
    }
    const struct dirent *item;
    while ((item = readdir(listing)) && visit(context, item->d_name))
        continue;
    closedir(listing);
    return true;
}
