/* SPDX-License-Identifier: BSD-2-Clause */
#include "schemas/code/suppressions.h"

#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"

struct suppressions {
    char **patterns;
    size_t count, capacity;
};

/* Each piece between two `*` matches at its first place, which leaves the most text for the others.
 * The piece before `$` must match at the end of the rest. */
bool suppression_matches(const char *pattern, const char *text)
{
    if (*text == '\0')
        return false;
    bool anchored = *pattern == '^';
    pattern += anchored;
    size_t left = strlen(pattern);
    const bool to_end = left > 0 && pattern[left - 1] == '$';
    left -= to_end;
    for (;;) {
        const char *star = memchr(pattern, '*', left);
        const size_t length = star ? (size_t)(star - pattern) : left;
        const size_t rest = strlen(text);
        if (!star && to_end) {
            if (rest < length || (anchored && rest != length))
                return false;
            return memcmp(text + rest - length, pattern, length) == 0;
        }
        const char *at = length == 0 ? text : memmem(text, strlen(text), pattern, length);
        if (!at || (anchored && at != text))
            return false;
        if (!star)
            return true;
        text = at + length;
        pattern = star + 1;
        left -= length + 1;
        anchored = false;
    }
}

bool suppressions_add(struct suppressions *suppressions, const char *pattern)
{
    if (!ARRAY_GROW(suppressions->patterns, suppressions->count, suppressions->capacity))
        return false;
    char *copy = strdup(pattern);
    if (!copy)
        return false;
    suppressions->patterns[suppressions->count++] = copy;
    return true;
}

struct suppressions *suppressions_new(void)
{
    return calloc(1, sizeof(struct suppressions));
}

ssize_t suppressions_read_line(char **line, size_t *room, FILE *file)
{
    size_t length = 0;
    for (int byte = 0; byte != '\n' && length <= SUPPRESSIONS_LINE_MOST;) {
        if ((byte = getc_unlocked(file)) == EOF)
            break;
        if (!array_grow(line, room, length + 2, 1))
            return -1;
        (*line)[length++] = (char)byte;
        (*line)[length] = '\0';
    }
    return length > 0 ? (ssize_t)length : -1;
}

char *suppressions_trim(char *line, size_t length)
{
    while (length > 0 && strchr(" \t\r\n", line[length - 1]))
        line[--length] = '\0';
    return line + strspn(line, " \t");
}

struct suppressions *suppressions_copy(const struct suppressions *suppressions)
{
    struct suppressions *copy = suppressions_new();
    for (size_t i = 0; copy && suppressions && i < suppressions->count; i++)
        if (!suppressions_add(copy, suppressions->patterns[i])) {
            suppressions_free(copy);
            copy = NULL;
        }
    return copy;
}

bool suppressions_add_line(struct suppressions *suppressions, const char *line, size_t length,
                           bool *is_suppression)
{
    static const char kind[] = "leak:";
    const size_t kind_length = sizeof(kind) - 1;
    char *copy = strndup(line, length);
    if (!copy)
        return false;
    const char *text = suppressions_trim(copy, strlen(copy));
    const bool is_empty = *text == '\0' || *text == '#';
    const bool is_leak = strncmp(text, kind, kind_length) == 0 && text[kind_length] != '\0';
    *is_suppression = is_empty || is_leak;
    const bool good = !is_leak || suppressions_add(suppressions, text + kind_length);
    free(copy);
    return good;
}

size_t suppressions_count(const struct suppressions *suppressions)
{
    return suppressions->count;
}

void suppressions_free(struct suppressions *suppressions)
{
    if (!suppressions)
        return;
    for (size_t i = 0; i < suppressions->count; i++)
        free(suppressions->patterns[i]);
    FREE_ALL(suppressions->patterns, suppressions);
}

const char *suppressions_pattern(const struct suppressions *suppressions, size_t i)
{
    return i < suppressions->count ? suppressions->patterns[i] : NULL;
}

size_t suppressions_first_match(const struct suppressions *suppressions, const char *text)
{
    size_t i = 0;
    while (i < suppressions->count && !suppression_matches(suppressions->patterns[i], text))
        i++;
    return i;
}
