/* SPDX-License-Identifier: BSD-2-Clause */
/* Says in the filter language which stacks have a function that its name does not tell. */
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

static bool has_function(const struct stacks *stacks, uint32_t stack, uint32_t function,
                         bool call_site)
{
    if (stacks->function[stack] == function)
        return true;
    for (uint64_t i = stacks_first(stacks, stack); !call_site && i < stacks_end(stacks, stack); i++)
        if (stacks->frame_table[stacks_frame(stacks, i)].function == function)
            return true;
    return false;
}

/* Writes the stacks, each run of numbers as one piece. Returns how many pieces there are. */
static size_t put_stacks(const struct session *session, uint32_t function, bool call_site,
                         FILE *out)
{
    const struct stacks *stacks = &session->stacks;
    size_t pieces = 0;
    /* Stack 0 is not a stack. */
    for (uint32_t stack = 1; stack < stacks->count && pieces <= PIECES_MOST; stack++) {
        const uint32_t first = stack;
        if (stack % 4096 == 0 && scan_cancelled(session))
            break;
        while (stack < stacks->count && has_function(stacks, stack, function, call_site))
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

bool session_function_stacks(struct session *session, uint32_t function, bool call_site,
                             char **test, struct session_error *error)
{
    size_t size;
    *test = NULL;
    if (!stacks_frames(&session->stacks, error))
        return false;
    FILE *out = open_memstream(test, &size);
    const size_t pieces = out ? put_stacks(session, function, call_site, out) : 0;
    bool good = out && !ferror(out);
    if ((out && fclose(out) != 0) || !good)
        good = session_fail_memory(error, "the stacks of a function");
    else
        good = scan_go_on(session, error);
    if (!good || pieces == 0 || pieces > PIECES_MOST) {
        free(*test);
        *test = NULL;
    }
    return good;
}
