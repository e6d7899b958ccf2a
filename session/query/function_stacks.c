/* SPDX-License-Identifier: BSD-2-Clause */
/* Says in the filter language which stacks have a function that its name does not tell, or pass
 * through a line of a file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/scan/scan.h"
#include "session/stacks.h"

enum { PIECES_MOST = 100000 }; /* a text of the language has at most 500,000 tokens */

bool session_function_is_alone(const struct session *session, uint32_t function)
{
    const char *name = session_function_name(session, function);
    for (uint32_t other = 1; other < session->names.function_count; other++)
        if (other != function && strcmp(session_function_name(session, other), name) == 0)
            return false;
    return true;
}

/* The stacks that are sought. */
struct sought {
    uint32_t function;
    bool call_site;   /* the function is the call site's */
    uint8_t *of_file; /* by file id: 1 if it is the file; NULL: the function is sought */
    uint32_t line;    /* 0: any */
};

static bool fits(const struct stacks *stacks, uint32_t stack, const struct sought *sought)
{
    if (!sought->of_file && stacks->function[stack] == sought->function)
        return true;
    if (sought->call_site)
        return false;
    for (uint64_t i = stacks_first(stacks, stack); i < stacks_end(stacks, stack); i++) {
        const struct stack_frame *frame = &stacks->frame_table[stacks_frame(stacks, i)];
        if (!sought->of_file ? frame->function == sought->function
                             : sought->of_file[frame->file] &&
                                   (sought->line == 0 || frame->line == sought->line))
            return true;
    }
    return false;
}

/* Writes the stacks, each run of numbers as one piece. Returns how many pieces there are. */
static size_t put_stacks(const struct session *session, const struct sought *sought, FILE *out)
{
    const struct stacks *stacks = &session->stacks;
    size_t pieces = 0;
    /* Stack 0 is not a stack. */
    for (uint32_t stack = 1; stack < stacks->count && pieces <= PIECES_MOST; stack++) {
        const uint32_t first = stack;
        if (stack % 4096 == 0 && scan_cancelled(session))
            break;
        while (stack < stacks->count && fits(stacks, stack, sought))
            stack++;
        if (stack == first)
            continue;
        fprintf(out, "%s%" PRIu32, pieces++ > 0 ? ", " : "stack in (", first);
        if (stack - 1 > first)
            fprintf(out, "..%" PRIu32, stack - 1);
    }
    fputs(pieces > 0 ? ")" : "", out);
    return pieces;
}

static bool write_test(struct session *session, const struct sought *sought, char **test,
                       struct session_error *error)
{
    size_t size;
    FILE *out = open_memstream(test, &size);
    const size_t pieces = out ? put_stacks(session, sought, out) : 0;
    bool good = out && !ferror(out);
    if ((out && fclose(out) != 0) || !good)
        good = session_fail_memory(error, "a list of stacks");
    else
        good = scan_go_on(session, error);
    if (!good || pieces == 0 || pieces > PIECES_MOST) {
        free(*test);
        *test = NULL;
    }
    return good;
}

bool session_function_stacks(struct session *session, uint32_t function, bool call_site,
                             char **test, struct session_error *error)
{
    const struct sought sought = {.function = function, .call_site = call_site};
    *test = NULL;
    return stacks_frames(&session->stacks, error) && write_test(session, &sought, test, error);
}

bool session_source_stacks(struct session *session, const char *path, uint32_t line, char **test,
                           struct session_error *error)
{
    const struct name_table *files = &session->names.file;
    struct sought sought = {.line = line};
    *test = NULL;
    if (!stacks_frames(&session->stacks, error))
        return false;
    sought.of_file = calloc((size_t)files->count + 1, sizeof(*sought.of_file));
    if (!sought.of_file)
        return session_fail_memory(error, "a list of stacks");
    /* Id 0 is not a file, whatever its name. */
    for (uint32_t file = 1; file < files->count; file++)
        sought.of_file[file] = files->name[file] && strcmp(files->name[file], path) == 0;
    const bool good = write_test(session, &sought, test, error);
    free(sought.of_file);
    return good;
}
