/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/store/stacks.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "schemas/packed_array.h"
#include "session/store/big_rows.h"
#include "session/store/database.h"
#include "session/store/error.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"

/* ---- stack frames ---- */

/* Pages that are read at once. Ingest writes the leaves in their order. */
enum { RUN_PAGES = 64 };

/* `nodes`: as many are expected. */
static bool stack_frames_begin(struct stack_frames *all, uint32_t frame_count, size_t nodes)
{
    *all = (struct stack_frames){.frame_count = frame_count, .capacity = nodes + 1};
    all->nodes = large_memory(all->capacity * sizeof(*all->nodes));
    if (!all->nodes)
        return false;
    all->nodes[all->count++] = (struct stack_frames_node){0};
    return true;
}

/* Adds a row of stack_node. They come by id. */
static bool stack_frames_add(struct stack_frames *all, int64_t id, int64_t parent, int64_t frame)
{
    if (all->count == 1)
        all->first_id = id;
    if (id < 1 || id > UINT32_MAX || id != all->first_id + all->count - 1 ||
        (parent != 0 && (parent <= id || parent > UINT32_MAX)) || all->count == UINT32_MAX)
        return false;
    if (all->count == all->capacity && !ARRAY_GROW(all->nodes, all->capacity, all->capacity))
        return false;
    struct stack_frames_node *node = &all->nodes[all->count++];
    node->parent = parent == 0 ? 0 : (uint32_t)(parent - all->first_id) + 1;
    node->frame = frame > 0 && frame < all->frame_count ? (uint32_t)frame : 0;
    return true;
}

/* Sets the depth and the top of each node. Returns false if one is not inwards of the node that
 * follows it, as far as it has a parent. */
static bool walk_down(struct stack_frames *all)
{
    struct stack_frames_node *nodes = all->nodes;
    for (uint32_t i = all->count, open = 0; i-- > 1; open = i) {
        struct stack_frames_node *node = &nodes[i];
        node->top = open != 0 && node->parent == open ? nodes[open].top : i;
        while (open != node->parent && open != 0)
            open = nodes[open].parent;
        if (open != node->parent)
            return false;
        node->depth = nodes[open].depth + 1;
    }
    return true;
}

/* Nodes that are neighbours are gone through in one step; a stack should have few rows of them. */
enum { ROWS_MAX = 255 };

/* Returns false if a stack leaves the row of neighbours very often. Their parents are higher. */
static bool has_long_rows(struct stack_frames *all)
{
    bool long_rows = true;
    for (uint32_t i = all->count; long_rows && i-- > 1;) {
        struct stack_frames_node *node = &all->nodes[i];
        node->top = node->parent == 0 ? 1 : all->nodes[node->parent].top + (node->parent != i + 1);
        long_rows = node->top <= ROWS_MAX;
    }
    return long_rows;
}

/* Stores the new numbers of the nodes by the old ones: from the highest down, a node and then those
 * inwards of it. `next` has the next child of the same parent, `first` the first one. */
static void order_nodes(struct stack_frames *all, const uint32_t *first, const uint32_t *next)
{
    uint32_t number = all->count, at = first[0];
    while (at != 0) {
        all->of_id[at] = --number;
        if (first[at] != 0) {
            at = first[at];
            continue;
        }
        while (at != 0 && next[at] == 0)
            at = all->nodes[at].parent;
        at = next[at];
    }
}

/* Links the children of each node. The one with the most nodes inwards of it comes first, so it
 * gets the number before its parent's, and from there a stack leaves the row of neighbours at most
 * as often as its number of nodes can be halved. `size` is zero, by node. */
static void link_children(const struct stack_frames *all, uint32_t *first, uint32_t *next,
                          uint32_t *size)
{
    for (uint32_t i = 1; i < all->count; i++) {
        const uint32_t parent = all->nodes[i].parent, largest = first[parent];
        size[i]++;
        size[parent] += size[i];
        if (largest == 0 || size[i] >= size[largest]) {
            next[i] = largest;
            first[parent] = i;
        } else {
            next[i] = next[largest];
            next[largest] = i;
        }
    }
}

/* Numbers the nodes again. A session that is still written has them in parts. */
static bool put_in_order(struct stack_frames *all)
{
    struct stack_frames_node *nodes = calloc(all->count, sizeof(*nodes));
    uint32_t *first = calloc(all->count, sizeof(*first));
    uint32_t *next = calloc(all->count, sizeof(*next));
    uint32_t *size = calloc(all->count, sizeof(*size));
    all->of_id = calloc(all->count, sizeof(*all->of_id));
    const bool good = nodes && first && next && size && all->of_id;
    if (good)
        link_children(all, first, next, size);
    free(size);
    if (good)
        order_nodes(all, first, next);
    for (uint32_t i = 1; good && i < all->count; i++)
        nodes[all->of_id[i]] = (struct stack_frames_node){
            .parent = all->of_id[all->nodes[i].parent], .frame = all->nodes[i].frame};
    FREE_ALL(first, next, good ? all->nodes : nodes);
    if (good)
        all->nodes = nodes;
    return good;
}

/* Returns false if a parent does not exist, or memory is exhausted. */
static bool stack_frames_end(struct stack_frames *all)
{
    for (uint32_t i = 1; i < all->count; i++)
        if (all->nodes[i].parent >= all->count)
            return false;
    if (has_long_rows(all) && walk_down(all))
        return true;
    return put_in_order(all) && walk_down(all);
}

static void stack_frames_free(struct stack_frames *all)
{
    FREE_ALL(all->nodes, all->of_id);
    *all = (struct stack_frames){.nodes = NULL};
}

/* ---- from the file ---- */

/* A walk through the table in the order of its ids. */
struct walk {
    struct page_file file;
    struct stack_frames *all;
    uint8_t *run; /* pages from `run_first` on */
    uint32_t run_first, run_pages, visited;
    const struct database *database;
};

/* Returns a page, NULL if it is not in the file. It is valid until the next call. */
static const uint8_t *get_page(struct walk *walk, uint32_t number)
{
    if (number == 0 || number > walk->file.pages || ++walk->visited > walk->file.pages)
        return NULL;
    if (number < walk->run_first || number >= walk->run_first + walk->run_pages) {
        if (database_stopped(walk->database))
            return NULL;
        const uint32_t rest = walk->file.pages - number + 1;
        walk->run_first = number;
        walk->run_pages = rest < RUN_PAGES ? rest : RUN_PAGES;
        if (!page_file_read(&walk->file, number, walk->run_pages, walk->run)) {
            walk->run_pages = 0;
            return NULL;
        }
    }
    return walk->run + (size_t)(number - walk->run_first) * walk->file.page_size;
}

static inline uint64_t load(const uint8_t *at)
{
    uint64_t bytes;
    memcpy(&bytes, at, sizeof(bytes));
    return bytes;
}

/* Reads a number of `size` bytes by a load of eight. A record holds 0 and 1 without bytes. */
static inline int64_t fast_number(const uint8_t *at, unsigned type, int size)
{
    return size == 0 ? type == 9 : (int64_t)be64toh(load(at)) >> (64 - 8 * size);
}

/* The header of a record: its own length, no bytes for the id, two numbers. */
enum { HEADER = 4, MOST = HEADER + 2 * 8 + 8 };
/* A row has that, its length, its id and its place in the page. */
enum { ROW_LEAST = HEADER + 1 + 1 + 2 };

/* Adds the row of a cell, whose record is too short for overflow pages. */
static inline bool add_row(const struct walk *walk, const uint8_t *at, const uint8_t *end)
{
    uint64_t length, id;
    if (!(at = page_varint(at, end, &length)) || !(at = page_varint(at, end, &id)) ||
        length > (size_t)(end - at) || length < HEADER || at[0] != HEADER || at[1] != 0 ||
        at[2] > 9 || at[3] > 9)
        return false;
    const int parent = page_number_size(at[2]), frame = page_number_size(at[3]);
    const uint8_t *value = at + HEADER;
    if (parent < 0 || frame < 0 || length != (uint64_t)HEADER + (uint64_t)parent + (uint64_t)frame)
        return false;
    if (end - at >= MOST)
        return stack_frames_add(walk->all, (int64_t)id, fast_number(value, at[2], parent),
                                fast_number(value + parent, at[3], frame));
    return stack_frames_add(walk->all, (int64_t)id, page_number(value, at[2], parent),
                            page_number(value + parent, at[3], frame));
}

static bool read_leaf(struct walk *walk, const uint8_t *page)
{
    const uint32_t cells = page_get16(page + PAGE_CELLS);
    const uint8_t *end = page + walk->file.usable;
    for (uint32_t i = 0; i < cells; i++) {
        const uint8_t *cell = page_cell(&walk->file, page, PAGE_LEAF_HEADER, i);
        if (!cell || !add_row(walk, cell, end))
            return false;
    }
    return true;
}

static bool read_tree(struct walk *walk, uint32_t number, int level);

static bool read_interior(struct walk *walk, const uint8_t *page, int level)
{
    const uint32_t cells = page_get16(page + PAGE_CELLS);
    for (uint32_t i = 0; i < cells; i++) {
        const uint8_t *cell = page_cell(&walk->file, page, PAGE_INTERIOR_HEADER, i);
        if (!cell || cell + 4 > page + walk->file.usable ||
            !read_tree(walk, page_get32(cell), level + 1))
            return false;
    }
    return read_tree(walk, page_get32(page + PAGE_RIGHT_CHILD), level + 1);
}

static bool read_tree(struct walk *walk, uint32_t number, int level)
{
    const uint8_t *page = get_page(walk, number);
    if (!page || level == PAGE_LEVELS_MAX)
        return false;
    if (page[0] == PAGE_TABLE_LEAF)
        return read_leaf(walk, page);
    if (page[0] != PAGE_TABLE_INTERIOR)
        return false;
    /* Reading the children replaces the pages of the run. */
    uint8_t *own = malloc(walk->file.page_size);
    if (own)
        memcpy(own, page, walk->file.page_size);
    const bool good = own && read_interior(walk, own, level);
    free(own);
    return good;
}

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
    if (!(stacks->frame_table = calloc(count, sizeof(*stacks->frame_table))))
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

/* Returns true if an array has an element for each id of a table. */
static bool fits(struct database *database, const char *sql, size_t length, size_t size)
{
    struct session_error ignored;
    int64_t largest = -1;
    return length % size == 0 && length / size < UINT32_MAX &&
           database_each(database, sql, database_take_number, &largest, &ignored) && largest >= 0 &&
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

static bool load_stacks(struct stacks *stacks, struct names *names, struct session_error *error)
{
    static const char frames[] =
        "SELECT id, module_id, pc, function_id, source_file_id, line, inlined, bare FROM frame";
    struct loading loading = {.stacks = stacks, .names = names};
    uint32_t count;
    if (!names_id_bound(stacks->database, "stack", &count, error) ||
        !names_id_bound(stacks->database, "frame", &stacks->frame_count, error) ||
        !reserve_stacks(stacks, count, error))
        return false;
    if (!(stacks->frame_table = calloc(stacks->frame_count, sizeof(*stacks->frame_table))))
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
    return unpack(stacks, names, &found, error) && (found || load_stacks(stacks, names, error)) &&
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

/* Returns how many nodes the table may have, 0 if that is not known. */
static uint64_t expect_nodes(const struct stacks *stacks, const struct page_file *file)
{
    static const char sql[] =
        "SELECT (SELECT max(id) FROM stack_node) - (SELECT min(id) FROM stack_node) + 1";
    const uint64_t most = (uint64_t)file->pages * file->page_size / ROW_LEAST;
    struct session_error ignored;
    int64_t ids = 0;
    if (!database_each(stacks->database, sql, database_take_number, &ids, &ignored) || ids < 0)
        return 0;
    return (uint64_t)ids < most ? (uint64_t)ids : most;
}

/* Reads the frames from the file. Returns false if that is not possible: then there is a part of
 * them, or none. */
static bool read_direct(struct stacks *stacks)
{
    const uint32_t root = database_direct_root(stacks->database, "stack_node");
    struct walk walk = {.all = &stacks->all, .database = stacks->database};
    if (root < 2 || !page_file_open(&walk.file, database_path(stacks->database)))
        return false;
    walk.run = malloc((size_t)RUN_PAGES * walk.file.page_size);
    const bool good =
        walk.run &&
        stack_frames_begin(&stacks->all, stacks->frame_count, expect_nodes(stacks, &walk.file)) &&
        read_tree(&walk, root, 0);
    free(walk.run);
    page_file_close(&walk.file);
    return good && !database_changed(stacks->database);
}

static bool read_by_sqlite(struct stacks *stacks, struct session_error *error)
{
    stack_frames_free(&stacks->all);
    if (!stack_frames_begin(&stacks->all, stacks->frame_count, 0))
        return session_fail_memory(error, "the frames of the stacks");
    stacks->all.by_sqlite = true;
    return database_each(stacks->database,
                         "SELECT id, parent_id, frame_id FROM stack_node ORDER BY id", read_node,
                         stacks, error);
}

static bool find_nodes(struct stacks *stacks, struct session_error *error)
{
    if (!stack_frames_end(&stacks->all))
        return session_fail(error, 0,
                            "%s: table stack_node is damaged: a parent is missing, or memory is "
                            "exhausted; ingest the trace again",
                            database_path(stacks->database));
    if (!(stacks->node = calloc(stacks->count, sizeof(*stacks->node))))
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
    if (!ARRAY_GROW(stacks->some, stacks->some_count, stacks->some_capacity))
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
    FREE_ALL(stacks->function, stacks->call_site, stacks->node_id, stacks->node, stacks->state,
             stacks->runtime, stacks->frame_table, stacks->some);
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
        FREE_ALL(far.first, far.next, far.last, far.before);
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

bool session_stack_by_collector(const struct session *session, uint32_t stack)
{
    const struct stacks *stacks = &session->stacks;
    return stack < stacks->count && stacks->state[stack] == PACKED_STATE_COLLECTOR;
}

const char *session_stack_state(const struct session *session, uint32_t stack)
{
    const struct stacks *stacks = &session->stacks;
    return states[stack < stacks->count ? stacks->state[stack] : 0];
}
