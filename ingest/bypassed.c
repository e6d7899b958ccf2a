#include "ingest/bypassed.h"

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

static bool has_line(const char *lines, const char *line)
{
    const size_t length = strlen(line);
    for (const char *at = lines; at; at = strchr(at, '\n'), at += at != NULL)
        if (strncmp(at, line, length) == 0 && (at[length] == '\n' || at[length] == '\0'))
            return true;
    return false;
}

/* Takes over `line`. */
static bool add_line(char **lines, size_t *count, char *line)
{
    char *longer = NULL;
    if (!has_line(*lines, line)) {
        const int length =
            asprintf(&longer, "%s%s%s", *lines ? *lines : "", *lines ? "\n" : "", line);
        if (length < 0) {
            free(line);
            return false;
        }
        free(*lines);
        *lines = longer;
        ++*count;
    }
    free(line);
    return true;
}

bool bypassed_add(struct bypassed *bypassed, const struct trace_extension *extension)
{
    char *path = strndup(extension->name.bytes, extension->name.length), *line = NULL;
    if (!path)
        return false;
    for (char *c = path; *c; c++)
        if (*c == '\n') /* it would end the line */
            *c = '?';
    if (extension->reason == TRACE_BYPASS_LATE)
        return add_line(&bypassed->late, &bypassed->late_count, path);
    const int length = asprintf(&line, "%s (%s)", path, why(extension->reason));
    free(path);
    return length >= 0 && add_line(&bypassed->unseen, &bypassed->unseen_count, line);
}

void bypassed_free(struct bypassed *bypassed)
{
    free(bypassed->late);
    free(bypassed->unseen);
    *bypassed = (struct bypassed){0};
}
