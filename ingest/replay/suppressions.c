/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/suppressions.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/printable.h"

struct suppressor {
    const struct suppressions *suppressions;
    const struct stacks *stacks;
    /* By row: the place of the first pattern that matches it, or the number of patterns for none.
     */
    size_t *functions, *source_files, *modules; /* modules by their place in the scan */
};

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
    return suppressions_add(suppressions, line + kind + 1) ||
           ingest_fail_memory(status, "the suppressions");
}

static bool read_lines(struct suppressions *suppressions, FILE *file, const char *path, FILE *notes,
                       struct ingest_status *status)
{
    struct place place = {path, 0};
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    bool good = true;
    while (good && (length = suppressions_read_line(&line, &room, file)) >= 0) {
        place.line++;
        if (memchr(line, '\0', (size_t)length))
            good = fail_line(&place, "a zero byte in the line", line, status);
        else if (length > SUPPRESSIONS_LINE_MOST)
            good = fail_line(&place, "the line is longer than 64 KiB", line, status);
        else
            good = take_line(suppressions, suppressions_trim(line, (size_t)length), &place, notes,
                             status);
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
    struct suppressions *suppressions = suppressions_new();
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
        suppressor->functions[i] =
            suppressions_first_match(suppressions, frames->functions[i].name);
    for (size_t i = 0; i < frames->source_file_count; i++)
        suppressor->source_files[i] =
            suppressions_first_match(suppressions, frames->source_files[i]);
    for (size_t i = 0; i < scan->module_count; i++)
        suppressor->modules[i] = suppressions_first_match(suppressions, scan->modules[i].path);
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
    const size_t none = suppressions_count(suppressions);
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
            return suppressions_pattern(suppressions, found);
    }
    return NULL;
}
