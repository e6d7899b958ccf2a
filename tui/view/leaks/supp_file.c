/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/leaks/supp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/session.h"

/* A file of suppressions is short: a larger one is something else. */
enum { FILE_MOST = 1 << 20 };

char *supp_file_path(char *out, size_t size, const char *session)
{
    const size_t length = strlen(session);
    const bool ends = length > 3 && strcmp(session + length - 3, ".db") == 0;
    snprintf(out, size, "%.*s.supp", (int)(ends ? length - 3 : length), session);
    return out;
}

static bool fail(char error[SUPP_ERROR_SIZE], const char *path, const char *what)
{
    snprintf(error, SUPP_ERROR_SIZE, "%.150s: %s", path, what);
    return false;
}

/* Opens a regular file. A FIFO or device would block or change something else. */
static int open_regular(const char *path, int flags, char error[SUPP_ERROR_SIZE])
{
    struct stat about;
    const int file = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    if (file < 0) {
        fail(error, path, strerror(errno));
        return -1;
    }
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size > FILE_MOST) {
        close(file);
        errno = EINVAL;
        fail(error, path, "not a file of suppressions");
        return -1;
    }
    return file;
}

/* Reads all of the file, which may be missing: then it is empty. NULL with `error` set. */
static char *read_all(const char *path, size_t *length, char error[SUPP_ERROR_SIZE])
{
    char *text = malloc(FILE_MOST + 1);
    *length = 0;
    if (!text) {
        fail(error, path, SESSION_OUT_OF_MEMORY);
        return NULL;
    }
    const int file = open_regular(path, O_RDONLY, error);
    ssize_t got = file < 0 && errno != ENOENT ? -1 : 0;
    while (file >= 0 && *length < FILE_MOST &&
           (got = read(file, text + *length, FILE_MOST - *length)) > 0)
        *length += (size_t)got;
    if (got < 0) {
        if (file >= 0)
            fail(error, path, strerror(errno));
        free(text);
        text = NULL;
    }
    if (file >= 0)
        close(file);
    return text;
}

/* Gives the next line, without its end. Returns false after the last. */
static bool next_line(const char **at, const char *end, const char **line, size_t *length)
{
    if (*at >= end)
        return false;
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    *line = *at;
    *length = (size_t)((newline ? newline : end) - *at);
    *at = newline ? newline + 1 : end;
    return true;
}

struct suppressions *supp_file_read(const char *path, char note[SUPP_ERROR_SIZE])
{
    size_t length, line_length, number = 0;
    const char *line;
    note[0] = 0;
    char *text = read_all(path, &length, note);
    struct suppressions *suppressions = text ? suppressions_new() : NULL;
    if (text)
        note[0] = 0;
    if (text && !suppressions)
        fail(note, path, SESSION_OUT_OF_MEMORY);
    const char *at = text;
    while (suppressions && next_line(&at, text + length, &line, &line_length)) {
        bool is_suppression;
        number++;
        if (!suppressions_add_line(suppressions, line, line_length, &is_suppression)) {
            fail(note, path, SESSION_OUT_OF_MEMORY);
            suppressions_free(suppressions);
            suppressions = NULL;
        } else if (!is_suppression && !note[0]) {
            snprintf(note, SUPP_ERROR_SIZE, "%.150s:%zu: no suppression of leaks: left out", path,
                     number);
        }
    }
    free(text);
    return suppressions;
}

static bool write_all(int file, const char *text, size_t length)
{
    while (length > 0) {
        const ssize_t wrote = write(file, text, length);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        text += wrote;
        length -= (size_t)wrote;
    }
    return true;
}

bool supp_file_add(const char *path, const char *pattern, const char *about,
                   char error[SUPP_ERROR_SIZE])
{
    size_t length;
    char *before = read_all(path, &length, error);
    if (!before)
        return false;
    const bool open_line = length > 0 && before[length - 1] != '\n';
    free(before);
    const int file = open_regular(path, O_WRONLY | O_CREAT | O_APPEND, error);
    if (file < 0)
        return false;
    char *text = NULL;
    const int size = asprintf(&text, "%s# %s\nleak:%s\n", open_line ? "\n" : "", about, pattern);
    const bool good = size >= 0 && write_all(file, text, (size_t)size);
    const int reason = errno;
    if (size >= 0)
        free(text);
    if (close(file) != 0 && good)
        return fail(error, path, strerror(errno));
    return good || fail(error, path, size < 0 ? SESSION_OUT_OF_MEMORY : strerror(reason));
}

/* Returns true if a line is a suppression with this pattern. */
static bool is_of(const char *line, size_t length, const char *pattern)
{
    char *copy = strndup(line, length);
    if (!copy)
        return false;
    const char *text = suppressions_trim(copy, strlen(copy));
    const bool same = strncmp(text, "leak:", 5) == 0 && strcmp(text + 5, pattern) == 0;
    free(copy);
    return same;
}

/* Returns true if a line is a comment of supp_file_add(). */
static bool is_about(const char *line, size_t length)
{
    static const char end[] = " block";
    const size_t end_length = sizeof(end) - 1;
    if (length > 0 && line[length - 1] == 's')
        length--;
    return length > end_length + 2 && memcmp(line, "# ", 2) == 0 &&
           memcmp(line + length - end_length, end, end_length) == 0;
}

/* Returns true if the next line is the suppression. */
static bool is_next(const char *at, const char *end, const char *pattern)
{
    const char *line;
    size_t length;
    return next_line(&at, end, &line, &length) && is_of(line, length, pattern);
}

/* Writes the other lines to a new file, which then takes the name of the old one. */
static bool write_others(const char *path, const char *text, size_t length, const char *pattern,
                         char error[SUPP_ERROR_SIZE])
{
    char name[PATH_MAX + 16];
    const char *at = text, *line;
    size_t line_length;
    snprintf(name, sizeof(name), "%s.XXXXXX", path);
    const int file = mkostemp(name, O_CLOEXEC);
    struct stat about;
    bool good = file >= 0;
    if (good && stat(path, &about) == 0)
        good = fchmod(file, about.st_mode & 07777) == 0;
    while (good && next_line(&at, text + length, &line, &line_length))
        good = is_of(line, line_length, pattern) ||
               (is_about(line, line_length) && is_next(at, text + length, pattern)) ||
               (write_all(file, line, line_length) && write_all(file, "\n", 1));
    good = good && fsync(file) == 0;
    const int reason = errno;
    if (file >= 0)
        close(file);
    if (good && rename(name, path) == 0)
        return true;
    fail(error, path, strerror(good ? errno : reason));
    if (file >= 0)
        unlink(name);
    return false;
}

bool supp_file_remove(const char *path, const char *pattern, char error[SUPP_ERROR_SIZE])
{
    size_t length;
    char *text = read_all(path, &length, error);
    /* A link stays one: the file that it leads to is replaced. */
    char *real = text ? realpath(path, NULL) : NULL;
    if (text && !real)
        fail(error, path, strerror(errno));
    const bool good = real && write_others(real, text, length, pattern, error);
    free(real);
    free(text);
    return good;
}
