/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/data/stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "session/data/database.h"
#include "session/data/error.h"

struct loading {
    struct stacks *stacks;
    struct names *names;
};

static bool read_frame(void *context, const struct database_row *row, struct session_error *error)
{
    struct loading *loading = context;
    struct names *names = loading->names;
    if (!names_id_check(loading->stacks->database, "frame", database_number(row, 0),
                        loading->stacks->frame_count, error))
        return false;
    int64_t module = database_number(row, 1);
    int64_t function = database_number(row, 3);
    int64_t file = database_number(row, 4);
    loading->stacks->frame_table[database_number(row, 0)] = (struct stack_frame){
        .pc = (uint64_t)database_number(row, 2),
        .module = module > 0 && module < names->module.count ? (uint32_t)module : 0,
        .function = function > 0 && function < names->function_count ? (uint32_t)function : 0,
        .file = file > 0 && file < names->file.count ? (uint32_t)file : 0,
        .line = (uint32_t)database_number(row, 5),
        .inlined = database_number(row, 6) != 0,
        .bare = database_number(row, 7) != 0,
    };
    return true;
}

static bool read_stack(void *context, const struct database_row *row, struct session_error *error)
{
    struct loading *loading = context;
    struct stacks *stacks = loading->stacks;
    int64_t id = database_number(row, 0);
    int64_t place = database_number(row, 1);
    int64_t function = database_number(row, 2);
    if (!names_id_check(stacks->database, "stack", id, stacks->count, error))
        return false;
    stacks->call_site[id] = place > 0 && place < stacks->frame_count ? (uint32_t)place : 0;
    stacks->function[id] =
        function > 0 && function < loading->names->function_count ? (uint32_t)function : 0;
    const char *state = database_text(row, 3);
    /* There are five states: the next one is nearly always the same as the last one. */
    if (id > 0 && state && strcmp(stacks->state[id - 1], state) == 0)
        stacks->state[id] = stacks->state[id - 1];
    else
        stacks->state[id] = string_pool_add(&loading->names->pool, state);
    return stacks->state[id] || session_fail_memory(error, "the stacks");
}

static bool read_runtime(void *context, const struct database_row *row, struct session_error *error)
{
    struct stacks *stacks = context;
    int64_t id = database_number(row, 0);
    if (!names_id_check(stacks->database, "runtime_stack", id, stacks->count, error))
        return false;
    stacks->runtime[id] = true;
    return true;
}

bool stacks_open(struct stacks *stacks, struct database *database, struct names *names,
                 struct session_error *error)
{
    struct loading loading = {.stacks = stacks, .names = names};
    stacks->database = database;
    if (!names_id_bound(database, "stack", &stacks->count, error) ||
        !names_id_bound(database, "frame", &stacks->frame_count, error))
        return false;
    stacks->function = calloc(stacks->count, sizeof(*stacks->function));
    stacks->call_site = calloc(stacks->count, sizeof(*stacks->call_site));
    stacks->state = calloc(stacks->count, sizeof(*stacks->state));
    stacks->runtime = calloc(stacks->count, sizeof(*stacks->runtime));
    stacks->frame_table = calloc(stacks->frame_count, sizeof(*stacks->frame_table));
    if (!stacks->function || !stacks->call_site || !stacks->state || !stacks->runtime ||
        !stacks->frame_table)
        return session_fail_memory(error, "the stacks");
    for (uint32_t stack = 0; stack < stacks->count; stack++)
        stacks->state[stack] = "none";
    bool good =
        database_each(database,
                      "SELECT id, module_id, pc, function_id, source_file_id, line, inlined, bare "
                      "FROM frame",
                      read_frame, &loading, error) &&
        database_each(database,
                      "SELECT id, call_site_frame_id, function_id, state FROM stack ORDER BY id",
                      read_stack, &loading, error) &&
        database_each(database, "SELECT stack_id FROM runtime_stack", read_runtime, stacks, error);
    return good;
}

struct frames_loading {
    struct stacks *stacks;
    uint64_t count, capacity;
    uint32_t next; /* the first stack whose first frame is not known yet */
};

static bool read_stack_frame(void *context, const struct database_row *row,
                             struct session_error *error)
{
    struct frames_loading *loading = context;
    struct stacks *stacks = loading->stacks;
    int64_t stack = database_number(row, 0);
    int64_t frame = database_number(row, 1);
    if (stack < 0 || stack >= stacks->count)
        return session_fail(error, 0,
                            "%s: stack_frame names stack %" PRId64
                            ", which does not exist: ingest the trace again",
                            database_path(stacks->database), stack);
    if (loading->count == loading->capacity) {
        loading->capacity = loading->capacity == 0 ? 4096 : loading->capacity * 2;
        uint32_t *frames = realloc(stacks->frames, loading->capacity * sizeof(*frames));
        if (!frames)
            return session_fail_memory(error, "the frames of the stacks");
        stacks->frames = frames;
    }
    while (loading->next <= (uint32_t)stack)
        stacks->first[loading->next++] = loading->count;
    stacks->frames[loading->count++] =
        frame > 0 && frame < stacks->frame_count ? (uint32_t)frame : 0;
    return true;
}

bool stacks_frames(struct stacks *stacks, struct session_error *error)
{
    if (stacks->loaded)
        return true;
    struct frames_loading loading = {.stacks = stacks};
    stacks->first = calloc((size_t)stacks->count + 1, sizeof(*stacks->first));
    if (!stacks->first)
        return session_fail_memory(error, "the frames of the stacks");
    if (!database_each(stacks->database,
                       "SELECT stack_id, frame_id FROM stack_frame ORDER BY stack_id, depth",
                       read_stack_frame, &loading, error)) {
        free(stacks->first);
        free(stacks->frames);
        stacks->first = NULL;
        stacks->frames = NULL;
        return false;
    }
    while (loading.next <= stacks->count)
        stacks->first[loading.next++] = loading.count;
    stacks->loaded = true;
    return true;
}

void stacks_close(struct stacks *stacks)
{
    free(stacks->function);
    free(stacks->call_site);
    free(stacks->state);
    free(stacks->runtime);
    free(stacks->frame_table);
    free(stacks->first);
    free(stacks->frames);
}

const struct stack_frame *stacks_call_site(const struct stacks *stacks, uint64_t stack)
{
    return &stacks->frame_table[stack < stacks->count ? stacks->call_site[stack] : 0];
}
