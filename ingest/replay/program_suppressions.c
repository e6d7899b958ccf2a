/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/program_suppressions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/replay/suppressions.h"

#define LINE_MAX_SHOWN 60

bool program_suppressions_add(struct program_suppressions *program,
                              const struct trace_extension *extension)
{
    const struct trace_text *piece = &extension->name;
    if (!program->found) {
        program->found = true;
        program->outcome = extension->reason;
        program->total = extension->size;
    }
    if (program->broken || extension->offset != program->length ||
        extension->reason != program->outcome || extension->size != program->total ||
        program->length + piece->length > TRACE_SUPPRESSIONS_MAX ||
        program->length + piece->length > program->total) {
        program->broken = true;
        return true;
    }
    if (!array_reserve(&program->text, &program->capacity, program->length + piece->length + 1, 1))
        return false;
    memcpy(program->text + program->length, piece->bytes, piece->length);
    program->length += piece->length;
    return true;
}

void program_suppressions_free(struct program_suppressions *program)
{
    free(program->text);
    *program = (struct program_suppressions){0};
}

/* Returns why some or all of the text is missing, or NULL if none is. */
static const char *why_lost(const struct program_suppressions *program)
{
    if (!program->found)
        return "the trace has none of the program's: record it with mprof-run --suppressions";
    switch (program->outcome) {
    case TRACE_SUPPRESSIONS_TEXT:
        break;
    case TRACE_SUPPRESSIONS_NONE:
        return NULL;
    case TRACE_SUPPRESSIONS_CRASHED:
        return "the program's __lsan_default_suppressions ended the process that called it";
    case TRACE_SUPPRESSIONS_LATE:
        return "the program's __lsan_default_suppressions did not return within two seconds";
    case TRACE_SUPPRESSIONS_NOT_ASKED:
        return "could not start a process to call the program's __lsan_default_suppressions";
    default:
        return "the outcome of the program's __lsan_default_suppressions is unknown";
    }
    if (program->total > TRACE_SUPPRESSIONS_MAX)
        return "the program's text is too long: only the whole lines of its first 65,536 bytes "
               "are used";
    return program->broken || program->length != program->total
               ? "pieces of the program's text are missing from the trace"
               : NULL;
}

/* Returns the bytes in whole lines. The last line of a text that was cut may be incomplete. */
static size_t whole_lines(const struct program_suppressions *program)
{
    size_t length = program->length;
    if (program->length == program->total && !program->broken)
        return length;
    while (length > 0 && program->text[length - 1] != '\n')
        length--;
    return length;
}

static bool add_lines(struct suppressions *joined, const struct program_suppressions *program,
                      struct problems *problems)
{
    const size_t length = whole_lines(program);
    size_t number = 0;
    for (size_t at = 0, size; at < length; at += size + 1) {
        const char *line = program->text + at, *end = memchr(line, '\n', length - at);
        bool is_suppression;
        size = end ? (size_t)(end - line) : length - at;
        number++;
        if (!suppressions_add_line(joined, line, size, &is_suppression))
            return false;
        if (!is_suppression && problems)
            problems_add(problems, PROBLEM_SUPPRESSIONS,
                         "line %zu of the program's names no leaks: '%.*s'", number,
                         size < LINE_MAX_SHOWN ? (int)size : LINE_MAX_SHOWN, line);
    }
    return true;
}

struct suppressions *program_suppressions_join(const struct program_suppressions *program,
                                               const struct suppressions *file,
                                               struct problems *problems)
{
    const char *lost = why_lost(program);
    struct suppressions *joined = suppressions_copy(file);
    if (!joined)
        return NULL;
    if (lost && problems)
        problems_add(problems, PROBLEM_SUPPRESSIONS, "%s", lost);
    if (program->outcome == TRACE_SUPPRESSIONS_TEXT && !add_lines(joined, program, problems)) {
        suppressions_free(joined);
        return NULL;
    }
    return joined;
}
