/* SPDX-License-Identifier: BSD-2-Clause */
/* A key is 128 bits: two different hashes of the names and the size. Names are hashed once for each
 * type and stack. One pass counts the keys of the right rows, another takes from the counts.
 *
 * Memory is bounded: if the right rows have more keys than the table holds, the passes are about a
 * part of the keys, those up to a limit, and the next passes are about the next part. All rows of a
 * key belong to one part, so the result is the same. */
#include "session/table/match.h"

#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/same_modules.h"
#include "session/store/error.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"
#include "session/table/code_map.h"

enum { CANCEL_STEP = 4096, SLOTS_FIRST = 4096 };

struct key {
    uint64_t high, low;
};

struct name_keys {
    struct key *stack, *type, *function, *module;
};

size_t match_slots_most = 1 << 20;

/* The right rows that have a key from `from` to `to` (by its high half) and no partner yet. */
struct table {
    struct key *keys;              /* by slot; low 0: free */
    uint64_t *counts;              /* by slot, then by right part */
    size_t count, capacity, parts; /* capacity: a power of two */
    uint64_t from, to;
};

/* ---- keys ---- */

static struct key key_with(struct key key, struct key next)
{
    return (struct key){code_mix(key.high * UINT64_C(0x9e3779b97f4a7c15) + next.high),
                        code_mix(key.low * UINT64_C(0xc2b2ae3d27d4eb4f) ^ next.low)};
}

static struct key key_of_text(const char *text)
{
    struct key key = {1, 2};
    for (; text && *text != '\0'; text++)
        key = (struct key){(key.high ^ (uint8_t)*text) * UINT64_C(0x100000001b3),
                           (key.low + (uint8_t)*text) * UINT64_C(0xd6e8feb86659fd93)};
    return (struct key){code_mix(key.high), code_mix(key.low)};
}

static void name_keys_free(struct name_keys *keys)
{
    FREE_ALL(keys->stack, keys->type, keys->function, keys->module);
    *keys = (struct name_keys){.stack = NULL};
}

static bool hash_stacks(const struct session *session, struct name_keys *keys,
                        struct session_error *error)
{
    const struct stacks *stacks = &session->stacks;
    struct key *of_node = calloc(stacks->all.count, sizeof(*of_node));
    if (!of_node)
        return session_fail_memory(error, "the names of two sessions");
    of_node[0] = (struct key){1, 0};
    for (uint32_t node = stacks->all.count; node-- > 1;) {
        const struct stack_frame *frame = &stacks->frame_table[stacks_frame(stacks, node)];
        of_node[node] = key_with(
            key_with(of_node[stacks_caller(stacks, node)], keys->function[frame->function]),
            keys->module[frame->module]);
    }
    for (uint32_t stack = 1; stack < stacks->count; stack++)
        keys->stack[stack] = of_node[stacks_node(stacks, stack)];
    free(of_node);
    return scan_go_on(session, error);
}

/* Hashes a name as the first session calls it. Returns false if memory is exhausted. */
static bool hash_name(const struct same_modules *same, const char *field, const char *name,
                      struct key *key)
{
    const struct same_module *list;
    char *copy =
        name && same_modules_list(same, &list) > 0 ? same_modules_name(same, field, name) : NULL;
    const bool good = copy || !name || same_modules_list(same, &list) == 0;
    *key = key_of_text(copy ? copy : name);
    free(copy);
    return good;
}

/* Id 0 is null, which equals no name. */
static bool hash_names(const struct session *session, const struct same_modules *same,
                       struct name_keys *keys)
{
    const struct names *names = &session->names;
    bool good = true;
    for (uint32_t id = 1; id < names->type.count; id++)
        keys->type[id] = key_of_text(names->type.name[id]);
    for (uint32_t id = 1; good && id < names->function_count; id++)
        good = hash_name(same, "function", names->function[id].name, &keys->function[id]);
    for (uint32_t id = 1; good && id < names->module.count; id++)
        good = hash_name(same, "module", names->module.name[id], &keys->module[id]);
    return good;
}

/* Finds the keys of a session, with the names that `first` has for its modules. */
static bool name_keys_find(struct session *session, struct session *first, struct name_keys *keys,
                           struct session_error *error)
{
    const struct names *names = &session->names;
    *keys = (struct name_keys){.stack = NULL};
    if (!stacks_frames(&session->stacks, error))
        return false;
    struct same_modules *same = same_modules_find(session, first, error);
    if (!same)
        return false;
    keys->stack = calloc(session->stacks.count, sizeof(*keys->stack));
    keys->type = calloc(names->type.count, sizeof(*keys->type));
    keys->function = calloc(names->function_count, sizeof(*keys->function));
    keys->module = calloc(names->module.count, sizeof(*keys->module));
    const bool named = keys->stack && keys->type && keys->function && keys->module &&
                       hash_names(session, same, keys);
    same_modules_free(same);
    if (!named) {
        name_keys_free(keys);
        return session_fail_memory(error, "the names of two sessions");
    }
    if (hash_stacks(session, keys, error))
        return true;
    name_keys_free(keys);
    return false;
}

static struct key key_of_row(const struct name_keys *keys, const struct chunk_rows *rows,
                             size_t row)
{
    const uint64_t size = column_view_at(&rows->views[COLUMN_SIZE], row);
    const struct key stack = keys->stack[column_view_at(&rows->views[COLUMN_STACK], row)];
    const struct key type = keys->type[column_view_at(&rows->views[COLUMN_TYPE], row)];
    struct key key = key_with(key_with(stack, type), (struct key){size, code_mix(size)});
    key.low |= 1; /* a free slot has 0 */
    return key;
}

/* ---- the table ---- */

/* Returns the slot of a key, or the free one where it belongs. */
static size_t find_slot(const struct table *table, struct key key)
{
    size_t i = (size_t)(key.low >> 1) & (table->capacity - 1);
    while (table->keys[i].low != 0 &&
           (table->keys[i].high != key.high || table->keys[i].low != key.low))
        i = (i + 1) & (table->capacity - 1);
    return i;
}

static bool is_of_part(const struct table *table, struct key key)
{
    return key.high >= table->from && key.high <= table->to;
}

static void table_free(struct table *table)
{
    FREE_ALL(table->keys, table->counts);
    table->keys = NULL;
    table->counts = NULL;
}

/* Moves the keys up to table->to into a table of another capacity. Returns false if memory is
 * exhausted or the session's question cancelled. */
static bool table_resize(struct table *table, size_t capacity, const struct session *session)
{
    struct table made = *table;
    made.count = 0;
    made.capacity = capacity;
    made.keys = calloc(capacity, sizeof(*made.keys));
    made.counts = calloc(capacity * table->parts, sizeof(*made.counts));
    bool good = made.keys && made.counts;
    for (size_t i = 0; good && table->keys && i < table->capacity; i++) {
        good = i % CANCEL_STEP != 0 || !scan_cancelled(session);
        if (!good || table->keys[i].low == 0 || !is_of_part(&made, table->keys[i]))
            continue;
        const size_t slot = find_slot(&made, table->keys[i]);
        made.keys[slot] = table->keys[i];
        memcpy(&made.counts[slot * made.parts], &table->counts[i * made.parts],
               made.parts * sizeof(*made.counts));
        made.count++;
    }
    if (!good) {
        table_free(&made);
        return false;
    }
    table_free(table);
    table->keys = made.keys;
    table->counts = made.counts;
    table->capacity = made.capacity;
    table->count = made.count;
    return true;
}

/* Makes room for a key: doubles the table, or halves the part of the keys. */
static bool table_make_room(struct table *table, const struct session *session)
{
    if (table->capacity < match_slots_most)
        return table_resize(table, 2 * table->capacity, session);
    table->to = table->from + (table->to - table->from) / 2;
    return table_resize(table, table->capacity, session);
}

/* ---- passes ---- */

struct matching {
    struct session *first;         /* whose names of modules count */
    const struct session *session; /* whose rows they are */
    struct table *table;
    const struct name_keys *keys;
    size_t part;             /* of the right rows that are counted */
    const bool *partner;     /* by right part: it may have partners of this left part */
    struct row_set *matched; /* of the left rows */
    bool failed;
};

static void count_rows(void *context, const struct chunk_rows *rows)
{
    struct matching *matching = context;
    struct table *table = matching->table;
    ROW_SET_EACH(rows->words, row)
    {
        const struct key key = key_of_row(matching->keys, rows, row);
        while (4 * table->count >= 3 * table->capacity && !matching->failed)
            matching->failed = !table_make_room(table, matching->session);
        if (matching->failed)
            return;
        if (!is_of_part(table, key))
            continue;
        const size_t slot = find_slot(table, key);
        table->count += table->keys[slot].low == 0;
        table->keys[slot] = key;
        table->counts[slot * table->parts + matching->part]++;
    }
}

static void take_rows(void *context, const struct chunk_rows *rows)
{
    struct matching *matching = context;
    const struct table *table = matching->table;
    uint64_t *words = row_set_chunk(matching->matched, rows->chunk);
    ROW_SET_EACH(rows->words, row)
    {
        const struct key key = key_of_row(matching->keys, rows, row);
        if (!is_of_part(table, key))
            continue;
        uint64_t *counts = &table->counts[find_slot(table, key) * table->parts];
        for (size_t part = 0; part < table->parts; part++) {
            if (!matching->partner[part] || counts[part] == 0)
                continue;
            counts[part]--;
            words[row / 64] |= UINT64_C(1) << (row % 64);
            break;
        }
    }
}

static bool pass(const struct match_part *part, scan_visitor *visit, struct matching *matching,
                 struct session_error *error)
{
    struct name_keys keys;
    if (!name_keys_find(part->session, matching->first, &keys, error))
        return false;
    matching->keys = &keys;
    matching->session = part->session;
    bool good =
        scan_in_order(part->session, part->set,
                      COLUMN_BIT(COLUMN_SIZE) | COLUMN_BIT(COLUMN_STACK) | COLUMN_BIT(COLUMN_TYPE),
                      visit, matching, error);
    name_keys_free(&keys);
    if (good && matching->failed)
        good = scan_go_on(part->session, error) &&
               session_fail_memory(error, "a comparison of sessions");
    return good;
}

/* Makes the passes about one part of the keys. */
static bool match_part_of_keys(struct matching *matching, struct match_part *left,
                               size_t left_count, const struct match_part *right,
                               struct session_error *error)
{
    struct table *table = matching->table;
    bool partner[MATCH_SESSIONS_MAX], good = true;
    for (size_t i = 0; good && i < table->parts; i++) {
        matching->part = i;
        good = pass(&right[i], count_rows, matching, error);
    }
    matching->partner = partner;
    for (size_t i = 0; good && i < left_count; i++) {
        for (size_t k = 0; k < table->parts; k++)
            partner[k] = right[k].session != left[i].session;
        matching->matched = &left[i].matched;
        good = pass(&left[i], take_rows, matching, error);
    }
    matching->partner = NULL;
    return good;
}

bool match_rows(struct match_part *left, size_t left_count, const struct match_part *right,
                size_t right_count, struct session_error *error)
{
    struct table table = {.parts = right_count, .to = UINT64_MAX};
    struct matching matching = {.table = &table, .first = left_count > 0 ? left[0].session : NULL};
    const size_t first = match_slots_most < SLOTS_FIRST ? match_slots_most : SLOTS_FIRST;
    bool good = left_count > 0 && right_count > 0;
    for (size_t i = 0; i < left_count; i++)
        good = row_set_start(&left[i].matched, left[i].session->columns, false, error) && good;
    while (good) {
        table.count = 0;
        table_free(&table);
        good = table_resize(&table, first, left[0].session) ||
               (scan_go_on(left[0].session, error) &&
                session_fail_memory(error, "a comparison of sessions"));
        good = good && match_part_of_keys(&matching, left, left_count, right, error);
        if (table.to == UINT64_MAX)
            break;
        /* The rest of the keys, which count_rows() makes narrower if they are too many. */
        table.from = table.to + 1;
        table.to = UINT64_MAX;
    }
    table_free(&table);
    return good;
}
