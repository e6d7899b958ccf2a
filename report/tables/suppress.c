/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/tables/suppress.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"

/* Returns true if a line is KIND:PATTERN. */
static bool has_kind(const char *line)
{
    size_t length = 0;
    while (isalnum((unsigned char)line[length]) || line[length] == '_' || line[length] == '-')
        length++;
    return length > 0 && line[length] == ':' && line[length + 1] != '\0' &&
           strncmp(line, "leak:", 5) != 0;
}

static bool take_line(struct suppressions *suppressions, char *line, size_t length,
                      const char *path, size_t number, struct session_error *error)
{
    bool taken = false;
    if (memchr(line, '\0', length))
        return report_fail(error, "%.200s:%zu: a zero byte in the line", path, number);
    if (length > SUPPRESSIONS_LINE_MOST)
        return report_fail(error, "%.200s:%zu: the line is longer than 64 KiB", path, number);
    const char *text = suppressions_trim(line, length);
    if (!suppressions_add_line(suppressions, text, strlen(text), &taken))
        return report_fail_memory(error, "the suppressions");
    if (!taken && has_kind(text)) {
        say("mprof-report", "%s:%zu: '%.*s' names no leaks: ignored", path, number,
            (int)strcspn(text, ":") + 1, text);
        return true;
    }
    return taken ||
           report_fail(error, "%.200s:%zu: no suppression: '%.100s'; a line is leak:PATTERN", path,
                       number, text);
}

struct suppressions *suppress_read(const char *path, bool *wrong, struct session_error *error)
{
    FILE *in = fopen(path, "re");
    struct suppressions *suppressions = in ? suppressions_new() : NULL;
    char *line = NULL;
    size_t room = 0, number = 0;
    ssize_t length;
    bool good = suppressions != NULL;
    *wrong = false;
    errno = in ? ENOMEM : errno;
    while (good && (length = suppressions_read_line(&line, &room, in)) >= 0) {
        good = take_line(suppressions, line, (size_t)length, path, ++number, error);
        *wrong = !good;
    }
    if (!suppressions || (good && ferror(in)))
        good = report_fail(error, "%.300s: the suppressions cannot be read: %s", path,
                           strerror(errno));
    free(line);
    if (in)
        fclose(in);
    if (good)
        return suppressions;
    suppressions_free(suppressions);
    return NULL;
}
