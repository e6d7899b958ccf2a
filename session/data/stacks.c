/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/data/stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "schemas/packed_array.h"
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

static const char *const states[] = PACKED_STATES;
enum { STATES = sizeof(states) / sizeof(*states) };

static bool read_stack(void *context, const struct database_row *row, struct session_error *error)
{
    struct loading *loading = context;
    struct stacks *stacks = loading->stacks;
    int64_t id = database_number(row, 0);
    int64_t place = database_number(row, 1);
    int64_t function = database_number(row, 2);
    const char *state = database_text(row, 3);
    const int64_t node = database_number(row, 4);
    if (!names_id_check(stacks->database, "stack", id, stacks->count, error))
        return false;
    stacks->call_site[id] = place > 0 && place < stacks->frame_count ? (uint32_t)place : 0;
    stacks->function[id] =
        function > 0 && function < loading->names->function_count ? (uint32_t)function : 0;
    stacks->node_id[id] = node > 0 && node <= UINT32_MAX ? (uint32_t)node : 0;
    for (uint8_t i = 0; state && i < STATES; i++)
        if (strcmp(states[i], state) == 0)
            stacks->state[id] = i;
    return true;
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

static bool reserve_stacks(struct stacks *stacks, uint32_t count, struct session_error *error)
{
    stacks->count = count;
    stacks->function = calloc(count, sizeof(*stacks->function));
    stacks->call_site = calloc(count, sizeof(*stacks->call_site));
    stacks->node_id = calloc(count, sizeof(*stacks->node_id));
    stacks->state = calloc(count, sizeof(*stacks->state));
    stacks->runtime = calloc(count, sizeof(*stacks->runtime));
    return (stacks->function && stacks->call_site && stacks->node_id && stacks->state &&
            stacks->runtime) ||
           session_fail_memory(error, "the stacks");
}

/* ---- from the packed arrays (schemas/columns.md) ---- */

static bool unpack_frames(struct stacks *stacks, const struct names *names, const uint8_t *data,
                          struct session_error *error)
{
    const size_t count = stacks->frame_count;
    const uint8_t *pc = data, *function = pc + count * 8, *module = function + count * 4;
    const uint8_t *file = module + count * 4, *line = file + count * 4, *flags = line + count * 4;
    stacks->frame_table = calloc(count, sizeof(*stacks->frame_table));
    if (!stacks->frame_table)
        return session_fail_memory(error, "the frames");
    for (size_t i = 0; i < count; i++) {
        struct stack_frame *frame = &stacks->frame_table[i];
        const uint32_t of = packed_get32(function + i * 4), in = packed_get32(module + i * 4);
        const uint32_t source = packed_get32(file + i * 4);
        frame->pc = packed_get64(pc + i * 8);
        frame->function = of < names->function_count ? of : 0;
        frame->module = in < names->module.count ? in : 0;
        frame->file = source < names->file.count ? source : 0;
        frame->line = packed_get32(line + i * 4);
        frame->inlined = (flags[i] & PACKED_FRAME_INLINED) != 0;
        frame->bare = (flags[i] & PACKED_FRAME_BARE) != 0;
    }
    return true;
}

static bool unpack_stacks(struct stacks *stacks, const struct names *names, size_t count,
                          const uint8_t *const *arrays, struct session_error *error)
{
    if (!reserve_stacks(stacks, (uint32_t)count, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        const uint32_t function = packed_get32(arrays[0] + i * 4);
        const uint32_t place = packed_get32(arrays[1] + i * 4);
        stacks->function[i] = function < names->function_count ? function : 0;
        stacks->call_site[i] = place < stacks->frame_count ? place : 0;
        stacks->state[i] = arrays[2][i] < STATES ? arrays[2][i] : 0;
        stacks->node_id[i] = packed_get32(arrays[4] + i * 4);
    }
    return true;
}

static bool read_largest(void *context, const struct database_row *row, struct session_error *error)
{
    (void)error;
    *(int64_t *)context = database_number(row, 0);
    return true;
}

/* Returns true if an array has an element for each id of a table. */
static bool fits(struct database *database, const char *sql, size_t length, size_t size)
{
    struct session_error ignored;
    int64_t largest = -1;
    return length % size == 0 && length / size < UINT32_MAX &&
           database_each(database, sql, read_largest, &largest, &ignored) && largest >= 0 &&
           length / size == (uint64_t)largest + 1;
}

/* Stores in `*found` whether the arrays exist and fit the tables. */
static bool unpack(struct stacks *stacks, const struct names *names, bool *found,
                   struct session_error *error)
{
    static const int ids[] = {PACKED_STACK_FUNCTION, PACKED_STACK_CALL_SITE, PACKED_STACK_STATE,
                              PACKED_FRAMES, PACKED_STACK_NODE};
    uint8_t *data[5] = {NULL};
    size_t length[5] = {0};
    bool good = true;
    for (int i = 0; good && i < 5; i++)
        good = database_packed_array(stacks->database, ids[i], &data[i], &length[i], error);
    const size_t count = length[2];
    *found = good && data[0] && data[1] && data[2] && data[3] && data[4] &&
             length[0] == count * 4 && length[1] == count * 4 && length[4] == count * 4 &&
             fits(stacks->database, "SELECT ifnull(max(id), 0) FROM stack", count, 1) &&
             fits(stacks->database, "SELECT ifnull(max(id), 0) FROM frame", length[3],
                  PACKED_FRAME_SIZE);
    if (*found) {
        stacks->frame_count = (uint32_t)(length[3] / PACKED_FRAME_SIZE);
        good = unpack_frames(stacks, names, data[3], error) &&
               unpack_stacks(stacks, names, count, (const uint8_t *const *)data, error);
    }
    for (int i = 0; i < 5; i++)
        free(data[i]);
    return good;
}

/* ---- from the tables ---- */

static bool load(struct stacks *stacks, struct names *names, struct session_error *error)
{
    static const char frames[] =
        "SELECT id, module_id, pc, function_id, source_file_id, line, inlined, bare FROM frame";
    struct loading loading = {.stacks = stacks, .names = names};
    uint32_t count;
    if (!names_id_bound(stacks->database, "stack", &count, error) ||
        !names_id_bound(stacks->database, "frame", &stacks->frame_count, error) ||
        !reserve_stacks(stacks, count, error))
        return false;
    stacks->frame_table = calloc(stacks->frame_count, sizeof(*stacks->frame_table));
    if (!stacks->frame_table)
        return session_fail_memory(error, "the frames");
    return database_each(stacks->database, frames, read_frame, &loading, error) &&
           database_each(stacks->database,
                         "SELECT id, call_site_frame_id, function_id, state, node_id FROM stack",
                         read_stack, &loading, error);
}

bool stacks_open(struct stacks *stacks, struct database *database, struct names *names,
                 struct session_error *error)
{
    bool found;
    stacks->database = database;
    return unpack(stacks, names, &found, error) && (found || load(stacks, names, error)) &&
           database_each(database, "SELECT stack_id FROM runtime_stack", read_runtime, stacks,
                         error);
}

/* ---- frames of the stacks ---- */

static bool fail_row(const struct stacks *stacks, const char *table, const char *what, int64_t id,
                     struct session_error *error)
{
    return session_fail(error, 0,
                        "%s: table %s is damaged at %s %" PRId64
                        ", or memory is exhausted; ingest the trace again",
                        database_path(stacks->database), table, what, id);
}

static bool read_node(void *context, const struct database_row *row, struct session_error *error)
{
    struct stacks *stacks = context;
    return stack_frames_add(&stacks->all, database_number(row, 0), database_number(row, 1),
                            database_number(row, 2)) ||
           fail_row(stacks, "stack_node", "node", database_number(row, 0), error);
}

static bool is_stopped(const void *database)
{
    return database_stopped(database);
}

/* Reads the frames from the file. Returns false if that is not possible. */
static bool read_direct(struct stacks *stacks)
{
    const uint32_t root = database_direct_root(stacks->database, "stack_node");
    return root != 0 && stack_frames_begin(&stacks->all, stacks->frame_count) &&
           stack_frames_read(&stacks->all, database_path(stacks->database), root, is_stopped,
                             stacks->database) &&
           !database_changed(stacks->database);
}

static bool read_by_sqlite(struct stacks *stacks, struct session_error *error)
{
    stack_frames_free(&stacks->all);
    if (!stack_frames_begin(&stacks->all, stacks->frame_count))
        return session_fail_memory(error, "the frames of the stacks");
    stacks->all.by_sqlite = true;
    return database_each(stacks->database,
                         "SELECT id, parent_id, frame_id FROM stack_node ORDER BY id", read_node,
                         stacks, error);
}

/* Finds the node of each stack. */
static bool find_nodes(struct stacks *stacks, struct session_error *error)
{
    if (!stack_frames_end(&stacks->all))
        return session_fail(error, 0,
                            "%s: table stack_node is damaged: a parent is missing, or memory is "
                            "exhausted; ingest the trace again",
                            database_path(stacks->database));
    stacks->node = calloc(stacks->count, sizeof(*stacks->node));
    if (!stacks->node)
        return session_fail_memory(error, "the frames of the stacks");
    for (uint32_t stack = 0; stack < stacks->count; stack++) {
        stacks->node[stack] = stack_frames_find(&stacks->all, stacks->node_id[stack]);
        if (stacks->node[stack] == 0 && stacks->node_id[stack] != 0)
            return fail_row(stacks, "stack_node", "node", stacks->node_id[stack], error);
    }
    return true;
}

bool stacks_frames(struct stacks *stacks, struct session_error *error)
{
    if (stacks->loaded)
        return true;
    stacks->loaded = (read_direct(stacks) ||
                      (database_go_on(stacks->database, error) && read_by_sqlite(stacks, error))) &&
                     find_nodes(stacks, error);
    if (stacks->loaded)
        return true;
    free(stacks->node);
    stacks->node = NULL;
    stack_frames_free(&stacks->all);
    return false;
}

static bool add_some(struct stacks *stacks, uint32_t frame, struct session_error *error)
{
    if (!array_grow(&stacks->some, &stacks->some_capacity, stacks->some_count + 1,
                    sizeof(*stacks->some)))
        return session_fail_memory(error, "the frames of a stack");
    stacks->some[stacks->some_count++] = frame;
    return true;
}

static bool read_some(void *context, const struct database_row *row, struct session_error *error)
{
    struct stacks *stacks = context;
    const int64_t frame = database_number(row, 0);
    if (database_is_null(row, 0))
        return session_fail(error, 0,
                            "%s: table stack_node is damaged: a node of a stack is missing; "
                            "ingest the trace again",
                            database_path(stacks->database));
    return add_some(stacks, frame > 0 && frame < stacks->frame_count ? (uint32_t)frame : 0, error);
}

size_t stacks_frames_of(struct stacks *stacks, uint32_t stack, const uint32_t **frames,
                        struct session_error *error)
{
    char sql[256];
    if (stack >= stacks->count)
        return 0;
    stacks->some_count = 0;
    if (stacks->loaded) {
        bool good = true;
        for (uint32_t node = stacks_node(stacks, stack); good && node != 0;
             node = stacks_caller(stacks, node))
            good = add_some(stacks, stacks_frame(stacks, node), error);
        *frames = stacks->some;
        return good ? stacks->some_count : 0;
    }
    snprintf(sql, sizeof(sql),
             "SELECT n.frame_id FROM stack_run r LEFT JOIN stack_node n"
             " ON n.id BETWEEN r.node_id AND r.node_id + r.frames - 1"
             " WHERE r.stack_id = %" PRIu32 " ORDER BY r.depth, n.id",
             stack);
    if (!database_each(stacks->database, sql, read_some, stacks, error))
        return 0;
    *frames = stacks->some;
    return stacks->some_count;
}

void stacks_close(struct stacks *stacks)
{
    free(stacks->function);
    free(stacks->call_site);
    free(stacks->node_id);
    free(stacks->node);
    free(stacks->state);
    free(stacks->runtime);
    free(stacks->frame_table);
    free(stacks->some);
    stack_frames_free(&stacks->all);
}

/* Steps outwards in which nearly all call sites are found. */
enum { NEAR = 64 };

/* The nodes of call sites that lie far from their innermost frames. */
struct far_sites {
    uint32_t *first;  /* by node: a stack that ends there and asks, + 1; 0: none */
    uint32_t *next;   /* by stack: the next one of its node, + 1 */
    uint32_t *last;   /* by frame: its innermost node among those that are open */
    uint32_t *before; /* by node: what `last` was for its frame */
};

static bool find_far(const struct stacks *stacks, const struct far_sites *far, uint32_t *sites,
                     const uint32_t *frames)
{
    const uint32_t nodes = stacks->all.count;
    if (!far->first || !far->next || !far->last || !far->before)
        return false;
    for (uint32_t stack = 0; stack < stacks->count; stack++) {
        if (sites[stack] != UINT32_MAX)
            continue;
        far->next[stack] = far->first[stacks->node[stack]];
        far->first[stacks->node[stack]] = stack + 1;
    }
    /* From a node to those inwards of it: the nodes from `open` outwards are open. */
    for (uint32_t node = nodes, open = 0; node-- > 1; open = node) {
        for (; open != stacks_caller(stacks, node); open = stacks_caller(stacks, open))
            far->last[stacks_frame(stacks, open)] = far->before[open];
        const uint32_t frame = stacks_frame(stacks, node);
        far->before[node] = far->last[frame];
        far->last[frame] = node;
        for (uint32_t stack = far->first[node]; stack != 0; stack = far->next[stack - 1]) {
            const uint32_t found = far->last[frames[stack - 1]];
            sites[stack - 1] = found != 0 ? found : node;
        }
    }
    return true;
}

uint32_t *stacks_sites(const struct stacks *stacks, const uint32_t *frames,
                       struct session_error *error)
{
    uint32_t *sites = calloc(stacks->count, sizeof(*sites));
    bool all = true;
    for (uint32_t stack = 0; sites && stack < stacks->count; stack++) {
        uint32_t node = stacks_node(stacks, stack);
        int steps = 0;
        sites[stack] = node;
        if (frames[stack] == 0 || frames[stack] >= stacks->frame_count)
            continue;
        for (; node != 0 && stacks_frame(stacks, node) != frames[stack] && steps < NEAR; steps++)
            node = stacks_caller(stacks, node);
        if (node != 0)
            sites[stack] = steps < NEAR ? node : UINT32_MAX;
        all = all && sites[stack] != UINT32_MAX;
    }
    if (sites && !all) {
        const struct far_sites far = {calloc(stacks->all.count, sizeof(uint32_t)),
                                      calloc(stacks->count, sizeof(uint32_t)),
                                      calloc(stacks->frame_count, sizeof(uint32_t)),
                                      calloc(stacks->all.count, sizeof(uint32_t))};
        all = find_far(stacks, &far, sites, frames);
        free(far.first);
        free(far.next);
        free(far.last);
        free(far.before);
    }
    if (sites && all)
        return sites;
    free(sites);
    session_fail_memory(error, "the call sites");
    return NULL;
}

uint8_t *stacks_with(const struct stacks *stacks, const uint8_t *of_function,
                     struct session_error *error)
{
    const struct stack_frames *all = &stacks->all;
    uint8_t *of_node = calloc(all->count, 1);
    if (!of_node)
        session_fail_memory(error, "the stacks");
    for (uint32_t node = all->count; of_node && node-- > 1;)
        of_node[node] = of_node[all->nodes[node].parent] |
                        of_function[stacks->frame_table[all->nodes[node].frame].function];
    return of_node;
}

const struct stack_frame *stacks_call_site(const struct stacks *stacks, uint64_t stack)
{
    return &stacks->frame_table[stack < stacks->count ? stacks->call_site[stack] : 0];
}

bool stacks_by_collector(const struct stacks *stacks, uint32_t stack)
{
    return stack < stacks->count && stacks->state[stack] == PACKED_STATE_COLLECTOR;
}

const char *stacks_state(const struct stacks *stacks, uint32_t stack)
{
    return states[stack < stacks->count ? stacks->state[stack] : 0];
}
