/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/tables/suppressed.h"

#include <stdlib.h>

#include "session/data/error.h"
#include "session/data/session_state.h"

struct suppressed {
    const struct session *session;
    const struct suppressions *suppressions;
    /* By id: the place of the first pattern that matches, or the number of patterns for none. */
    size_t *functions, *files, *modules;
    uint32_t *of_node; /* by node: the same of its innermost frame for which there is one */
};

static size_t *places(size_t count, size_t none)
{
    size_t *all = malloc((count + 1) * sizeof(*all));
    for (size_t i = 0; all && i <= count; i++)
        all[i] = none;
    return all;
}

static bool read_module(void *context, const struct database_row *row, struct session_error *error)
{
    struct suppressed *suppressed = context;
    const int64_t id = database_number(row, 0);
    const char *path = database_text(row, 1);
    (void)error;
    if (path && id > 0 && id < suppressed->session->names.module.count)
        suppressed->modules[id] = suppressions_first_match(suppressed->suppressions, path);
    return true;
}

static bool find_nodes(struct suppressed *suppressed, struct session_error *error)
{
    const struct stacks *stacks = &suppressed->session->stacks;
    const size_t none = suppressions_count(suppressed->suppressions);
    uint32_t *of_node = suppressed->of_node = malloc(stacks->all.count * sizeof(*of_node));
    if (!of_node)
        return session_fail_memory(error, "the suppressions");
    of_node[0] = (uint32_t)none;
    for (uint32_t node = stacks->all.count; node-- > 1;) {
        const struct stack_frame *frame = &stacks->frame_table[stacks_frame(stacks, node)];
        const size_t function = suppressed->functions[frame->function];
        const size_t file = suppressed->files[frame->file];
        size_t found = suppressed->modules[frame->module];
        if (found == none)
            found = function < file ? function : file;
        of_node[node] = found != none ? (uint32_t)found : of_node[stacks_caller(stacks, node)];
    }
    return true;
}

struct suppressed *suppressed_new(struct session *session, const struct suppressions *suppressions,
                                  struct session_error *error)
{
    const struct names *names = &session->names;
    const size_t none = suppressions_count(suppressions);
    struct suppressed *suppressed = calloc(1, sizeof(*suppressed));
    if (suppressed)
        *suppressed = (struct suppressed){session,
                                          suppressions,
                                          places(names->function_count, none),
                                          places(names->file.count, none),
                                          places(names->module.count, none),
                                          NULL};
    if (!suppressed || !suppressed->functions || !suppressed->files || !suppressed->modules) {
        suppressed_free(suppressed);
        session_fail_memory(error, "the suppressions");
        return NULL;
    }
    for (uint32_t i = 1; i < names->function_count; i++)
        suppressed->functions[i] = suppressions_first_match(suppressions, names->function[i].name);
    for (uint32_t i = 1; i < names->file.count; i++)
        suppressed->files[i] = suppressions_first_match(suppressions, names->file.name[i]);
    if (stacks_frames(&session->stacks, error) &&
        database_each(session->database, "SELECT id, path FROM module", read_module, suppressed,
                      error) &&
        find_nodes(suppressed, error))
        return suppressed;
    suppressed_free(suppressed);
    return NULL;
}

void suppressed_free(struct suppressed *suppressed)
{
    if (!suppressed)
        return;
    free(suppressed->functions);
    free(suppressed->files);
    free(suppressed->modules);
    free(suppressed->of_node);
    free(suppressed);
}

const char *suppressed_by(const struct suppressed *suppressed, uint32_t stack)
{
    const size_t found = suppressed->of_node[stacks_node(&suppressed->session->stacks, stack)];
    return found == suppressions_count(suppressed->suppressions)
               ? NULL
               : suppressions_pattern(suppressed->suppressions, found);
}
