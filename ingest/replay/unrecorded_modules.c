/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/unrecorded_modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *why(uint64_t reason)
{
    switch (reason) {
    case TRACE_BYPASS_NAMESPACE:
        return "in a namespace with a heap of its own";
    case TRACE_BYPASS_OTHER:
        return "bound to another allocator";
    case TRACE_BYPASS_REFUSED:
        return "its memory could not be made writable";
    case TRACE_BYPASS_MISSED:
        return "found only at the end";
    default:
        return "for a reason that this version does not know";
    }
}

static bool has_line(const struct module_lines *lines, const char *line, uint64_t hash)
{
    const size_t length = strlen(line);
    size_t probe = index_map_begin(&lines->by_line, hash);
    uint32_t index;
    while ((index = index_map_next(&lines->by_line, hash, &probe)) != INDEX_NONE) {
        const char *at = lines->text + lines->starts[index];
        if (strncmp(at, line, length) == 0 && (at[length] == '\n' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* Adds a line unless it is there. A damaged trace may have very many. */
static bool add_line(struct module_lines *lines, const char *line)
{
    const size_t length = strlen(line), start = lines->length + (lines->count > 0);
    const uint64_t hash = hash_text(line);
    if (has_line(lines, line, hash))
        return true;
    if (lines->count >= INDEX_NONE - 1 ||
        !array_reserve(&lines->text, &lines->capacity, start + length + 1, 1) ||
        !array_reserve(&lines->starts, &lines->start_capacity, lines->count + 1,
                       sizeof(*lines->starts)) ||
        !index_map_insert(&lines->by_line, hash, (uint32_t)lines->count))
        return false;
    if (lines->count > 0)
        lines->text[start - 1] = '\n';
    memcpy(lines->text + start, line, length + 1);
    lines->length = start + length;
    lines->starts[lines->count++] = start;
    return true;
}

static void free_lines(struct module_lines *lines)
{
    free(lines->text);
    free(lines->starts);
    index_map_free(&lines->by_line);
}

/* Returns a copy that fits into a line. NULL if memory is exhausted. */
static char *copy_for_line(struct trace_text text)
{
    char *copy = strndup(text.bytes ? text.bytes : "", text.length);
    for (char *c = copy; c && *c; c++)
        if (*c == '\n') /* would end the line */
            *c = '?';
    return copy;
}

bool unrecorded_modules_add(struct unrecorded_modules *unrecorded,
                            const struct trace_extension *extension)
{
    char *path = copy_for_line(extension->name), *line = NULL;
    bool good = path != NULL;
    if (good && extension->reason == TRACE_BYPASS_LATE) {
        good = add_line(&unrecorded->late, path);
    } else if (good && extension->reason == TRACE_BYPASS_FUNCTION) {
        char *function = copy_for_line(extension->file);
        good = function &&
               asprintf(&line, "%s (its calls of %s, unless that calls malloc)", path, function) >=
                   0 &&
               add_line(&unrecorded->unseen, line);
        free(function);
    } else if (good) {
        good = asprintf(&line, "%s (%s)", path, why(extension->reason)) >= 0 &&
               add_line(&unrecorded->unseen, line);
    }
    free(line);
    free(path);
    return good;
}

void unrecorded_modules_free(struct unrecorded_modules *unrecorded)
{
    free_lines(&unrecorded->late);
    free_lines(&unrecorded->unseen);
    *unrecorded = (struct unrecorded_modules){0};
}
