/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds a source file on this machine: under the path that the session has, or under that of a
 * setting `source FROM=TO`. Compares its age with the recording and with the binary.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/code_facts.h"
#include "session/graphs.h"
#include "tui/view/source/source.h"

enum { FILE_MOST = 16 << 20, LINES_MOST = 1000000 };

/* Opens a regular file. Returns -1 if there is none, or it cannot be read. */
static int open_regular(const char *path, struct stat *about)
{
    /* Without O_NONBLOCK a pipe of this name would hold the engine. */
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return -1;
    if (fstat(descriptor, about) == 0 && S_ISREG(about->st_mode))
        return descriptor;
    close(descriptor);
    return -1;
}

/* Returns what replaces the beginning of `path` by a setting "FROM=TO": FROM ends at the last '=',
 * and at a component of the path. Returns false if it is not the beginning. */
static bool map_path(const char *setting, const char *path, char *out, size_t size)
{
    const char *equal = strrchr(setting, '=');
    size_t length = equal ? (size_t)(equal - setting) : 0;
    while (length > 1 && setting[length - 1] == '/')
        length--;
    if (length == 0 || strncmp(setting, path, length) != 0 ||
        (path[length] != '/' && path[length] != 0 && setting[length - 1] != '/'))
        return false;
    const char *rest = path + length + strspn(path + length, "/");
    const char *to = equal + 1;
    const size_t to_length = strlen(to);
    const char *slash = to_length > 0 && to[to_length - 1] == '/' ? "" : "/";
    return snprintf(out, size, "%s%s%s", to, slash, rest) < (int)size;
}

/* Opens the file at its recorded place or, if it is not there, at that of a setting. */
static int find(struct session *session, struct source_file *file, struct stat *about)
{
    struct session_setting *settings = NULL;
    struct session_error ignored;
    size_t count = 0;
    int descriptor = -1;
    if (session_settings(session, &settings, &count, &ignored)) {
        for (size_t i = 0; i < count && descriptor < 0; i++)
            if (settings[i].kind == SESSION_SOURCE &&
                map_path(settings[i].value, file->request.path, file->found, sizeof(file->found)))
                descriptor = open_regular(file->found, about);
        session_settings_free(settings, count);
    }
    /* The folder that a relative path begins at is that of the compiler. */
    if (descriptor < 0 && file->request.path[0] == '/') {
        snprintf(file->found, sizeof(file->found), "%s", file->request.path);
        descriptor = open_regular(file->found, about);
    }
    if (descriptor < 0)
        file->found[0] = 0;
    return descriptor;
}

static bool read_all(int descriptor, char *text, size_t size)
{
    size_t used = 0;
    while (used < size) {
        const ssize_t got = read(descriptor, text + used, size - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    memset(text + used, 0, size - used + 1);
    return true;
}

/* Splits the text into lines. */
static bool split(struct source_file *file, size_t size)
{
    size_t capacity = 0;
    for (size_t at = 0; at < size && file->count < LINES_MOST;) {
        if (file->count == capacity) {
            capacity = capacity * 2 + 1024;
            size_t *larger = realloc(file->lines, capacity * sizeof(*larger));
            if (!larger)
                return false;
            file->lines = larger;
        }
        file->lines[file->count++] = at;
        char *end = memchr(file->text + at, '\n', size - at);
        size_t next = end ? (size_t)(end - file->text) + 1 : size;
        if (end)
            *end = 0;
        if (end && next >= at + 2 && end[-1] == '\r')
            end[-1] = 0;
        at = next;
    }
    return true;
}

/* Finds the module that has code of the file: the first function that is declared in it tells. */
static bool find_module(struct session *session, const char *path, struct session_module *module)
{
    struct session_error ignored;
    const uint32_t count = session_function_count(session);
    for (uint32_t id = 1; id <= count; id++) {
        struct session_function function;
        if (session_function(session, id, &function, &ignored) && function.module != 0 &&
            strcmp(function.file, path) == 0)
            return session_module(session, function.module, module, &ignored);
    }
    return false;
}

/* Returns when the recording began, 0 if it is not known. */
static time_t recording_began(const struct session *session)
{
    const char *text = session_meta(session, "start_time");
    struct tm tm = {0};
    if (!text || sscanf(text, "%d-%d-%dT%d:%d:%d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
                        &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6)
        return 0;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    return timegm(&tm);
}

/* Says if the lines may have moved since the program was built. */
static void compare_ages(struct session *session, struct source_file *file,
                         const struct stat *about)
{
    struct session_module module;
    struct stat binary;
    const time_t began = recording_began(session);
    if (find_module(session, file->request.path, &module) && stat(module.path, &binary) == 0 &&
        about->st_mtime > binary.st_mtime) {
        snprintf(file->note, sizeof(file->note),
                 "the source is newer than the binary %.150s: lines may have moved", module.name);
        file->warns = true;
    } else if (began != 0 && about->st_mtime > began) {
        snprintf(file->note, sizeof(file->note),
                 "the source has changed since the recording: lines may have moved");
        file->warns = true;
    }
}

bool source_file_run(struct session *session, struct selection *selection, void *data,
                     struct session_error *error)
{
    struct source_file *file = data;
    struct stat about;
    (void)selection;
    const int descriptor = find(session, file, &about);
    if (descriptor < 0) {
        snprintf(file->note, sizeof(file->note),
                 "not here: mprof-tui --add-setting 'source FROM=TO'");
        file->warns = true;
        return true;
    }
    bool good = about.st_size <= FILE_MOST;
    if (!good) {
        snprintf(file->note, sizeof(file->note), "larger than 16 MiB: not shown");
        file->warns = true;
        close(descriptor);
        return true;
    }
    file->text = malloc((size_t)about.st_size + 1);
    good = file->text && read_all(descriptor, file->text, (size_t)about.st_size) &&
           split(file, (size_t)about.st_size);
    close(descriptor);
    if (!good)
        *error = (struct session_error){.message = SESSION_OUT_OF_MEMORY};
    else
        compare_ages(session, file, &about);
    return good;
}

void source_file_clear(void *data)
{
    struct source_file *file = data;
    free(file->text);
    free(file->lines);
}

void source_file_line(const struct source_file *file, uint32_t line, char *out, size_t size)
{
    size_t used = 0;
    out[0] = 0;
    if (!file || line == 0 || line > file->count)
        return;
    for (const char *at = file->text + file->lines[line - 1]; *at && used + 5 < size; at++) {
        if (*at != '\t') {
            out[used++] = *at;
            continue;
        }
        do
            out[used++] = ' ';
        while (used % 4 != 0);
    }
    out[used] = 0;
}
