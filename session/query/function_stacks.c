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
#include "session/user/user.h"

enum { PIECES_MOST = 100000 }; /* a text of the language has at most 500,000 tokens */

bool session_function_is_alone(const struct session *session, uint32_t function)
{
    const struct name_function *all = session->names.function;
    const uint32_t count = session->names.function_count;
    if (function >= count)
        return true;
    for (uint32_t other = 1; other < count; other++)
        if (all[other].hash == all[function].hash && other != function &&
            strcmp(all[other].name, all[function].name) == 0)
            return false;
    return true;
}

/* The function or the file that is sought, and the frames that count. */
struct wanted {
    uint32_t function;
    enum session_function_part part;
    const uint32_t *users; /* the user's frames by stack, of SESSION_AT_USER */
    uint8_t *of_node;      /* 1: the node or one outward of it fits, of SESSION_ANYWHERE */
    uint8_t *of_file;      /* by file id: 1 if it is the file; NULL: the function is sought */
    uint32_t line;         /* 0: any */
};

static bool fits(const struct wanted *wanted, const struct stack_frame *frame)
{
    if (!wanted->of_file)
        return frame->function == wanted->function;
    return wanted->of_file[frame->file] && (wanted->line == 0 || frame->line == wanted->line);
}

static bool has(const struct stacks *stacks, uint32_t stack, const struct wanted *wanted)
{
    if (wanted->part == SESSION_AT_USER)
        return fits(wanted, &stacks->frame_table[wanted->users[stack]]);
    if (!wanted->of_file && stacks->function[stack] == wanted->function)
        return true;
    return wanted->part == SESSION_ANYWHERE && wanted->of_node[stacks_node(stacks, stack)];
}

/* Finds the nodes of stacks that pass through what is wanted. */
static bool find_nodes(struct session *session, struct wanted *wanted, struct session_error *error)
{
    const struct stacks *stacks = &session->stacks;
    if (!stacks_frames(&session->stacks, error))
        return false;
    wanted->of_node = calloc(stacks->all.count, 1);
    if (!wanted->of_node)
        return session_fail_memory(error, "a list of stacks");
    for (uint32_t node = stacks->all.count; node-- > 1;)
        wanted->of_node[node] = wanted->of_node[stacks_caller(stacks, node)] ||
                                fits(wanted, &stacks->frame_table[stacks_frame(stacks, node)]);
    return true;
}

/* Writes the stacks, each run of numbers as one piece. Returns how many pieces there are. */
static size_t put_stacks(const struct session *session, const struct wanted *wanted, FILE *out)
{
    const struct stacks *stacks = &session->stacks;
    size_t pieces = 0;
    /* Stack 0 is not a stack. */
    for (uint32_t stack = 1; stack < stacks->count && pieces <= PIECES_MOST; stack++) {
        const uint32_t first = stack;
        if (stack % 4096 == 0 && scan_cancelled(session))
            break;
        while (stack < stacks->count && has(stacks, stack, wanted))
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

static bool write_test(struct session *session, const struct wanted *wanted, char **test,
                       struct session_error *error)
{
    size_t size;
    FILE *out = open_memstream(test, &size);
    const size_t pieces = out ? put_stacks(session, wanted, out) : 0;
    bool good = out && !ferror(out);
    free(wanted->of_node);
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

bool session_function_stacks(struct session *session, uint32_t function,
                             enum session_function_part part, char **test,
                             struct session_error *error)
{
    struct wanted wanted = {.function = function, .part = part};
    *test = NULL;
    if ((part == SESSION_AT_USER && !user_frames(session, &wanted.users, error)) ||
        (part == SESSION_ANYWHERE && !find_nodes(session, &wanted, error)))
        return false;
    return write_test(session, &wanted, test, error);
}

bool session_source_stacks(struct session *session, const char *path, uint32_t line, char **test,
                           struct session_error *error)
{
    const struct name_table *files = &session->names.file;
    struct wanted wanted = {.line = line};
    *test = NULL;
    wanted.of_file = calloc((size_t)files->count + 1, sizeof(*wanted.of_file));
    if (!wanted.of_file)
        return session_fail_memory(error, "a list of stacks");
    /* Id 0 is not a file, whatever its name. */
    for (uint32_t file = 1; file < files->count; file++)
        wanted.of_file[file] = files->name[file] && strcmp(files->name[file], path) == 0;
    const bool good =
        find_nodes(session, &wanted, error) && write_test(session, &wanted, test, error);
    free(wanted.of_file);
    return good;
}
