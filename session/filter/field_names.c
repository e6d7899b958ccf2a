/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/filter/field_names.h"

#include <stdlib.h>
#include <string.h>

#include "session/filter/references.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "session/store/user.h"

static bool names_of_table(struct field_names *names, const struct name_table *table,
                           bool zero_is_null, struct session_error *error)
{
    if (!(names->name = malloc(table->count * sizeof(*names->name))))
        return session_fail_memory(error, "the names of a field");
    memcpy(names->name, table->name, table->count * sizeof(*names->name));
    if (zero_is_null)
        names->name[0] = NULL;
    names->name_count = table->count;
    return true;
}

/* Returns the function `out` frames outward of the call site, 0 if there is none. The caller of an
 * inlined function is the one that it is inlined into. */
static uint32_t outer_function(const struct stacks *stacks, uint32_t stack, uint32_t out)
{
    const uint32_t site = stacks->call_site[stack];
    uint32_t node = site == 0 ? 0 : stacks_find_frame(stacks, stacks_node(stacks, stack), site);
    if (out >= stacks_depth(stacks, node))
        return 0;
    node = stack_frames_outer(&stacks->all, node, stacks_depth(stacks, node) - out);
    return stacks_function(stacks, node);
}

/* `known` has the user's frames by stack for FIELD_USER, and the owners for FIELD_OWNER. */
static uint32_t name_of_stack(const struct stacks *stacks, enum filter_field field, uint32_t frame,
                              const uint32_t *known, uint32_t stack)
{
    const struct stack_frame *place = stacks_call_site(stacks, stack);
    switch (field) {
    case FIELD_FUNCTION:
        return stacks->function[stack];
    case FIELD_CALLER:
        return outer_function(stacks, stack, 1);
    case FIELD_FRAME:
        return outer_function(stacks, stack, frame);
    case FIELD_USER:
        return !known ? 0 : stacks->frame_table[known[stack]].function;
    case FIELD_OWNER:
        return !known ? 0 : known[stack];
    case FIELD_FILE:
        return place->file;
    default:
        return place->module;
    }
}

static bool names_of_stacks(struct session *session, enum filter_field field, uint32_t frame,
                            struct field_names *names, struct session_error *error)
{
    const struct stacks *stacks = &session->stacks;
    if ((field == FIELD_CALLER || field == FIELD_FRAME) && !stacks_frames(&session->stacks, error))
        return false;
    const uint32_t *known = NULL;
    if ((field == FIELD_USER && !user_frames(session, &known, error)) ||
        (field == FIELD_OWNER && !user_owners(session, &known, error)))
        return false;
    names->column = COLUMN_STACK;
    names->count = stacks->count;
    if (!(names->name_id = malloc(stacks->count * sizeof(*names->name_id))))
        return session_fail_memory(error, "the names of a field");
    for (uint32_t stack = 0; stack < stacks->count; stack++)
        names->name_id[stack] = name_of_stack(stacks, field, frame, known, stack);
    if (field == FIELD_FILE)
        return names_of_table(names, &session->names.file, true, error);
    if (field == FIELD_OWNER)
        return names_of_table(names, &session->names.owner, true, error);
    if (field == FIELD_MODULE)
        return names_of_table(names, &session->names.module, true, error);
    names->name_count = session->names.function_count;
    if (!(names->name = malloc(names->name_count * sizeof(*names->name))))
        return session_fail_memory(error, "the names of a field");
    names->name[0] = NULL;
    for (uint32_t id = 1; id < names->name_count; id++)
        names->name[id] = session->names.function[id].name;
    return true;
}

static bool names_of_processes(const struct names *all, struct field_names *names,
                               struct session_error *error)
{
    *names = (struct field_names){
        .column = COLUMN_THREAD, .count = all->thread.count, .number = all->process_pid};
    if (!names_of_table(names, &all->process, true, error))
        return false;
    if (!(names->name_id = malloc(all->thread.count * sizeof(*names->name_id))))
        return session_fail_memory(error, "the names of a field");
    memcpy(names->name_id, all->thread_process, all->thread.count * sizeof(*names->name_id));
    return true;
}

bool field_names_open(struct session *session, enum filter_field field, uint32_t frame,
                      struct field_names *names, struct session_error *error)
{
    const struct names *all = &session->names;
    bool good;
    *names = (struct field_names){.column = COLUMN_TYPE, .count = all->type.count};
    switch (field) {
    case FIELD_TYPE:
        good = names_of_table(names, &all->type, true, error);
        break;
    case FIELD_CONFIDENCE: {
        const struct name_table confidence = {.name = all->confidence, .count = all->type.count};
        good = names_of_table(names, &confidence, false, error);
        break;
    }
    case FIELD_REACHABILITY: { /* of groups: its rows have no column, and 0 is null */
        const char *words[REACHABILITY_ROOT + 1] = {NULL};
        memcpy(words + 1, reachability_words, REACHABILITY_ROOT * sizeof(*words));
        const struct name_table table = {.name = words, .count = REACHABILITY_ROOT + 1};
        names->count = table.count;
        good = names_of_table(names, &table, true, error);
        break;
    }
    case FIELD_THREAD:
        *names = (struct field_names){.column = COLUMN_THREAD, .count = all->thread.count};
        good = names_of_table(names, &all->thread, false, error);
        break;
    case FIELD_FREE_THREAD:
        *names = (struct field_names){.column = COLUMN_FREE_THREAD, .count = all->thread.count};
        good = names_of_table(names, &all->thread, true, error);
        break;
    case FIELD_PROCESS:
        good = names_of_processes(all, names, error);
        break;
    case FIELD_ARENA:
        *names = (struct field_names){.column = COLUMN_ARENA, .count = all->arena.count};
        good = names_of_table(names, &all->arena, true, error);
        break;
    case FIELD_KIND:
        *names = (struct field_names){.column = COLUMN_KIND, .count = all->kind.count};
        good = names_of_table(names, &all->kind, false, error);
        break;
    default:
        good = names_of_stacks(session, field, frame, names, error);
        break;
    }
    if (!good)
        field_names_close(names);
    return good;
}

void field_names_close(struct field_names *names)
{
    free(names->name_id);
    free(names->name);
    *names = (struct field_names){.count = 0};
}
