/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/filter/clears.h"

#include <stdlib.h>

#include "schemas/code/clearing_name.h"
#include "schemas/code/user_code.h"
#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/user/user.h"

/* Returns for each function 1 if it clears and is the user's own code. */
static uint8_t *clearing_functions(struct session *session, struct session_error *error)
{
    const struct names *names = &session->names;
    const uint8_t *classes = NULL;
    if (!user_classes(session, &classes, error))
        return NULL;
    uint8_t *clears = calloc((size_t)names->function_count + 1, 1);
    if (!clears) {
        session_fail_memory(error, "the filter");
        return NULL;
    }
    for (uint32_t id = 0; id < names->function_count; id++) {
        const char *name = names->function[id].name;
        clears[id] = classes[id] == USER_CODE_OWN && name && function_name_clears(name);
    }
    return clears;
}

uint8_t *clears_find(struct session *session, struct session_error *error)
{
    struct stacks *stacks = &session->stacks;
    uint8_t *clears = stacks_frames(stacks, error) ? clearing_functions(session, error) : NULL;
    uint8_t *of_node = clears ? stacks_with(stacks, clears, error) : NULL;
    uint8_t *found = of_node ? calloc((size_t)stacks->count + 1, 1) : NULL;
    if (of_node && !found)
        session_fail_memory(error, "the filter");
    for (uint32_t stack = 1; found && stack < stacks->count; stack++)
        found[stack] = of_node[stacks_node(stacks, stack)];
    free(of_node);
    free(clears);
    return found;
}
