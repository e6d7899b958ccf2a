/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/suppressions.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/printable.h"

struct suppressions {
    char **patterns;
    size_t count, capacity;
};

struct suppressor {
    const struct suppressions *suppressions;
    const struct stacks *stacks;
    /* By row: the place of the first pattern that matches it, or the number of patterns for none.
     */
    size_t *functions, *source_files, *modules; /* modules by their place in the scan */
};

/* Finds the first `length` bytes of `piece` in `text`. NULL if they are not there. */
static const char *find(const char *text, const char *piece, size_t length)
{
    return length == 0 ? text : memmem(text, strlen(text), piece, length);
}

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
        const char *at = find(text, pattern, length);
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

static bool add_pattern(struct suppressions *suppressions, const char *pattern)
{
    if (suppressions->count == suppressions->capacity) {
        const size_t capacity = suppressions->capacity ? 2 * suppressions->capacity : 16;
        char **more = realloc(suppressions->patterns, capacity * sizeof(*more));
        if (!more)
            return false;
        suppressions->patterns = more;
        suppressions->capacity = capacity;
    }
    char *copy = strdup(pattern);
    if (!copy)
        return false;
    suppressions->patterns[suppressions->count++] = copy;
    return true;
}

/* The place of a line in a suppression file, for messages. */
struct place {
    const char *path;
    size_t line;
};

static bool fail_line(const struct place *place, const char *what, const char *text,
                      struct ingest_status *status)
{
    return ingest_fail(status, INGEST_BAD_INPUT, "%s:%zu: %s: '%.255s'; a line is leak:PATTERN",
                       place->path, place->line, what, text);
}

static void note_kind(FILE *notes, const struct place *place, const char *kind, size_t length)
{
    char path[512];
    printable_copy(path, sizeof(path), place->path);
    fprintf(notes, "mprof-ingest: %s:%zu: '%.*s:' names no leaks: ignored\n", path, place->line,
            (int)length, kind);
}

/* Takes a line without blanks at either end. The name of a kind has letters, digits, - and _. */
static bool take_line(struct suppressions *suppressions, const char *line,
                      const struct place *place, FILE *notes, struct ingest_status *status)
{
    size_t kind = 0;
    if (*line == '\0' || *line == '#')
        return true;
    while (isalnum((unsigned char)line[kind]) || line[kind] == '_' || line[kind] == '-')
        kind++;
    if (kind == 0 || line[kind] != ':')
        return fail_line(place, "no suppression", line, status);
    if (line[kind + 1] == '\0')
        return fail_line(place, "the pattern is missing", line, status);
    if (kind != 4 || strncmp(line, "leak", 4) != 0) {
        note_kind(notes, place, line, kind);
        return true;
    }
    return add_pattern(suppressions, line + kind + 1) ||
           ingest_fail_memory(status, "the suppressions");
}

/* Cuts blanks, also a carriage return, from both ends. */
static char *trim(char *line, size_t length)
{
    while (length > 0 && strchr(" \t\r\n", line[length - 1]))
        line[--length] = '\0';
    return line + strspn(line, " \t");
}

struct suppressions *suppressions_copy(const struct suppressions *suppressions)
{
    struct suppressions *copy = calloc(1, sizeof(*copy));
    for (size_t i = 0; copy && suppressions && i < suppressions->count; i++)
        if (!add_pattern(copy, suppressions->patterns[i])) {
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
    const char *text = trim(copy, strlen(copy));
    const bool is_empty = *text == '\0' || *text == '#';
    const bool is_leak = strncmp(text, kind, kind_length) == 0 && text[kind_length] != '\0';
    *is_suppression = is_empty || is_leak;
    const bool good = !is_leak || add_pattern(suppressions, text + kind_length);
    free(copy);
    return good;
}

static bool read_lines(struct suppressions *suppressions, FILE *file, const char *path, FILE *notes,
                       struct ingest_status *status)
{
    struct place place = {path, 0};
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    bool good = true;
    while (good && (length = getline(&line, &room, file)) >= 0) {
        place.line++;
        if (memchr(line, '\0', (size_t)length))
            good = fail_line(&place, "a zero byte in the line", line, status);
        else
            good = take_line(suppressions, trim(line, (size_t)length), &place, notes, status);
    }
    free(line);
    return good;
}

static bool fail_file(const char *path, struct ingest_status *status)
{
    return ingest_fail(status, INGEST_BAD_INPUT, "%s: the suppressions cannot be read: %s", path,
                       strerror(errno));
}

struct suppressions *suppressions_read(const char *path, FILE *notes, struct ingest_status *status)
{
    struct suppressions *suppressions = calloc(1, sizeof(*suppressions));
    if (!suppressions) {
        ingest_fail_memory(status, "the suppressions");
        return NULL;
    }
    FILE *file = fopen(path, "re");
    bool good = file || fail_file(path, status);
    good = good && read_lines(suppressions, file, path, notes, status) &&
           (!ferror(file) || fail_file(path, status));
    if (file)
        fclose(file);
    if (good)
        return suppressions;
    suppressions_free(suppressions);
    return NULL;
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
    free(suppressions->patterns);
    free(suppressions);
}

/* Returns the place of the first pattern that matches. */
static size_t first_match(const struct suppressions *suppressions, const char *text)
{
    size_t i = 0;
    while (i < suppressions->count && !suppression_matches(suppressions->patterns[i], text))
        i++;
    return i;
}

struct suppressor *suppressor_new(const struct suppressions *suppressions,
                                  const struct stacks *stacks)
{
    const struct frames *frames = &stacks->frames;
    const struct trace_scan *scan = stacks->scan;
    struct suppressor *suppressor = calloc(1, sizeof(*suppressor));
    if (!suppressor)
        return NULL;
    *suppressor = (struct suppressor){
        suppressions,
        stacks,
        calloc(frames->function_count + 1, sizeof(size_t)),
        calloc(frames->source_file_count + 1, sizeof(size_t)),
        calloc(scan->module_count + 1, sizeof(size_t)),
    };
    if (!suppressor->functions || !suppressor->source_files || !suppressor->modules) {
        suppressor_free(suppressor);
        return NULL;
    }
    for (size_t i = 0; i < frames->function_count; i++)
        suppressor->functions[i] = first_match(suppressions, frames->functions[i].name);
    for (size_t i = 0; i < frames->source_file_count; i++)
        suppressor->source_files[i] = first_match(suppressions, frames->source_files[i]);
    for (size_t i = 0; i < scan->module_count; i++)
        suppressor->modules[i] = first_match(suppressions, scan->modules[i].path);
    return suppressor;
}

void suppressor_free(struct suppressor *suppressor)
{
    if (!suppressor)
        return;
    free(suppressor->functions);
    free(suppressor->source_files);
    free(suppressor->modules);
    free(suppressor);
}

const char *suppressor_of(const struct suppressor *suppressor, size_t stack)
{
    const struct suppressions *suppressions = suppressor->suppressions;
    const struct stacks *stacks = suppressor->stacks;
    const size_t none = suppressions->count;
    struct stack_walk walk = stacks_walk(&stacks->rows[stack]);
    uint32_t frame;
    while ((frame = stacks_walk_next(stacks, &walk)) != FRAMES_NONE) {
        const struct frame_row *row = &stacks->frames.rows[frame];
        const size_t function = suppressor->functions[row->function];
        const size_t file =
            row->source_file == FRAMES_NONE ? none : suppressor->source_files[row->source_file];
        const struct module_row *module =
            row->module != 0 ? trace_scan_module(stacks->scan, row->module) : NULL;
        size_t found = module ? suppressor->modules[module - stacks->scan->modules] : none;
        if (found == none)
            found = function < file ? function : file;
        if (found != none)
            return suppressions->patterns[found];
    }
    return NULL;
}
