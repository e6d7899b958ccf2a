/* SPDX-License-Identifier: BSD-2-Clause */
/* The order of groups. A sort is stable and begins by keys, so equal groups stay so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/filter/sort_order.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "session/table/group_state.h"

/* Until the next look for a cancel. */
enum { GROUPS_PER_LOOK = 1 << 16, GROUPS_COMPARED_PER_LOOK = 1 << 12 };

/* ---- keys ---- */

uint64_t group_value(const struct session_group_set *set, uint32_t group, size_t dimension)
{
    if (set->keys.cells > 0)
        return group_keys_value_of_cell(&set->keys, dimension, set->cell_of_group[group]);
    return group_keys_value_of_code(&set->keys, dimension, set->codes.codes[group]);
}

/* Returns the name of an id that is its own key. */
static const char *name_of(const struct session_group_set *set, const struct group_part *part,
                           uint64_t value)
{
    const struct session *session = set->session;
    if (part->field == FIELD_STACK || part->field == FIELD_FREE_STACK)
        return session_function_name(session, session->stacks.function[value]);
    return part->names.name[field_names_id(&part->names, (uint32_t)value)];
}

static struct session_group_key key_of_id(const struct session_group_set *set,
                                          const struct group_part *part, uint64_t value)
{
    uint64_t id = value;
    if (part->field == FIELD_PROCESS)
        id = field_names_id(&part->names, (uint32_t)value);
    if (id == 0 && part->field != FIELD_THREAD)
        return (struct session_group_key){.is_null = true};
    return (struct session_group_key){.id = id, .text = name_of(set, part, value)};
}

static struct session_group_key key_of_text(const struct group_part *part, uint64_t value)
{
    const uint32_t id = field_names_id(&part->names, (uint32_t)value);
    if (!part->names.name[id])
        return (struct session_group_key){.is_null = true};
    return (struct session_group_key){.id = part->same[id], .text = part->names.name[id]};
}

static struct session_group_key key_of_node(const struct session_group_set *set, uint32_t node)
{
    if (node == 0)
        return (struct session_group_key){.is_null = true};
    return (struct session_group_key){
        .id = node, .text = session_function_name(set->session, set->nodes[node].function)};
}

struct session_group_key group_key(const struct session_group_set *set, uint32_t group, size_t part)
{
    const struct group_part *of = &set->keys.parts[part];
    if (of->field == FIELD_PATH)
        return key_of_node(set, set->cell_of_group[group]);
    const uint64_t value = group_value(set, group, of->dimension);
    switch (of->column.type) {
    case KEY_ID:
        return key_of_id(set, of, value);
    case KEY_TEXT:
        return key_of_text(of, value);
    case KEY_COLOR:
        return (struct session_group_key){.is_null = value == 0,
                                          .id = (uint64_t)set->colors.step[value].number};
    default:
        break;
    }
    if (of->field == FIELD_LINE) {
        const uint32_t line = stacks_call_site(&set->session->stacks, value)->line;
        return (struct session_group_key){.is_null = line == 0, .id = line};
    }
    return (struct session_group_key){.id = value};
}

/* Stores the functions of a path from the root inwards, up to `capacity`. Returns their number. */
static size_t path_of(const struct session_group_set *set, uint32_t group, uint32_t *functions,
                      size_t capacity)
{
    size_t length = 0;
    if (set->node_count == 0)
        return 0;
    for (uint32_t node = set->cell_of_group[group]; node != 0; node = set->nodes[node].parent)
        length++;
    size_t place = length;
    for (uint32_t node = set->cell_of_group[group]; node != 0; node = set->nodes[node].parent)
        if (--place < capacity)
            functions[place] = set->nodes[node].function;
    return length;
}

size_t session_group_path(const struct session_group_set *set, size_t row, uint32_t *functions,
                          size_t capacity)
{
    return row < set->count ? path_of(set, set->order[row], functions, capacity) : 0;
}

size_t group_path_text(const struct session_group_set *set, uint32_t group, char *out, size_t size)
{
    size_t length = 0;
    uint32_t functions[64] = {0};
    uint32_t *all = functions;
    size_t count = path_of(set, group, functions, 64);
    if (count > 64) {
        all = calloc(count, sizeof(*all));
        count = all ? path_of(set, group, all, count) : 0;
    }
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *name = session_function_name(set->session, all[i]);
        const size_t room = length < size ? size - length : 0;
        length +=
            (size_t)snprintf(room > 0 ? out + length : NULL, room, "%s%s", i > 0 ? ";" : "", name);
    }
    if (all != functions)
        free(all);
    return length;
}

/* ---- the order of keys ---- */

static size_t depth_of(const struct session_group_set *set, uint32_t node)
{
    size_t depth = 0;
    for (; node != 0; node = set->nodes[node].parent)
        depth++;
    return depth;
}

/* Compares two paths function by function, from the root inwards. The one that ends first is less.
 */
static int compare_paths(const struct session_group_set *set, uint32_t left, uint32_t right)
{
    size_t left_depth = depth_of(set, left);
    size_t right_depth = depth_of(set, right);
    const int shorter = left_depth < right_depth ? -1 : left_depth > right_depth;
    while (left_depth > right_depth) {
        left = set->nodes[left].parent;
        left_depth--;
    }
    for (; right_depth > left_depth; right_depth--)
        right = set->nodes[right].parent;
    if (left == right)
        return shorter;
    while (set->nodes[left].parent != set->nodes[right].parent) {
        left = set->nodes[left].parent;
        right = set->nodes[right].parent;
    }
    return strcmp(session_function_name(set->session, set->nodes[left].function),
                  session_function_name(set->session, set->nodes[right].function));
}

static int compare_part(const struct session_group_set *set, size_t part, uint32_t left,
                        uint32_t right)
{
    const struct group_part *of = &set->keys.parts[part];
    const struct session_group_key a = group_key(set, left, part);
    const struct session_group_key b = group_key(set, right, part);
    if (a.is_null || b.is_null)
        return (int)a.is_null - (int)b.is_null;
    if (of->field == FIELD_PATH)
        return compare_paths(set, (uint32_t)a.id, (uint32_t)b.id);
    if (of->column.type == KEY_TEXT ||
        (of->column.type == KEY_ID && of->field != FIELD_STACK && of->field != FIELD_FREE_STACK)) {
        const int order = strcmp(a.text ? a.text : "", b.text ? b.text : "");
        if (order != 0)
            return order;
    }
    return ORDER(a.id, b.id);
}

/* Compares by one key first (part_count: none), then by all. */
static int compare_groups(const struct session_group_set *set, size_t part, uint32_t left,
                          uint32_t right)
{
    int order = part < set->keys.part_count ? compare_part(set, part, left, right) : 0;
    for (size_t i = 0; order == 0 && i < set->keys.part_count; i++)
        order = compare_part(set, i, left, right);
    return order;
}

/* Merges two sorted runs of `from`, parted by `middle`, in `to`. False if it is cancelled. */
static bool merge(const struct session_group_set *set, size_t part, const uint32_t *from,
                  uint32_t *to, size_t begin, size_t middle, size_t end)
{
    size_t left = begin, right = middle;
    for (size_t i = begin; i < end; i++) {
        if (i % GROUPS_COMPARED_PER_LOOK == 0 && scan_cancelled(set->session))
            return false;
        const bool take_left =
            left < middle &&
            (right == end || compare_groups(set, part, from[left], from[right]) <= 0);
        to[i] = take_left ? from[left++] : from[right++];
    }
    return true;
}

/* Sorts groups by merging runs (Knuth, TAOCP 3, 5.2.4), and ends early when it is cancelled.
 * Returns false with `error` set. */
static bool sort_groups(const struct session_group_set *set, size_t part, uint32_t *groups,
                        size_t count, struct session_error *error)
{
    uint32_t *spare = calloc(count + 1, sizeof(*spare));
    uint32_t *from = groups, *to = spare;
    bool good = spare || session_fail_memory(error, "the order of groups");
    for (size_t run = 1; good && run < count; run *= 2) {
        for (size_t begin = 0; good && begin < count; begin += 2 * run) {
            const size_t middle = count - begin < run ? count : begin + run;
            const size_t end = count - middle < run ? count : middle + run;
            good =
                merge(set, part, from, to, begin, middle, end) || scan_go_on(set->session, error);
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (good && from != groups)
        memcpy(groups, from, count * sizeof(*groups));
    free(spare);
    return good;
}

/* Returns true if the groups were made in the order of their keys, but for null, which is the
 * first.
 */
static bool made_in_order(const struct session_group_set *set)
{
    const struct group_part *part = &set->keys.parts[0];
    return set->keys.part_count == 1 && set->keys.cells > 0 &&
           (part->field == FIELD_STACK || part->field == FIELD_FREE_STACK ||
            part->field == FIELD_SIZE || part->field == FIELD_COUNT || part->field == FIELD_FREED);
}

static bool group_find_key_order(struct session_group_set *set, struct session_error *error)
{
    if (!(set->by_key = malloc((set->made + 1) * sizeof(*set->by_key))))
        return session_fail_memory(error, "the order of groups");
    for (size_t i = 0; i < set->made; i++)
        set->by_key[i] = (uint32_t)i;
    if (!made_in_order(set))
        return sort_groups(set, set->keys.part_count, set->by_key, set->made, error);
    if (set->made > 0 && group_key(set, 0, 0).is_null) {
        memmove(set->by_key, set->by_key + 1, (set->made - 1) * sizeof(*set->by_key));
        set->by_key[set->made - 1] = 0;
    }
    return true;
}

/* ---- sorting ---- */

/* Puts the groups that are left into the order of `keys`, by group. */
static bool sort_left(struct session_group_set *set, const uint64_t *keys,
                      struct session_error *error)
{
    struct sort_entry *entries = malloc((set->count + 1) * sizeof(*entries));
    bool *left = calloc(set->made + 1, sizeof(*left));
    size_t count = 0;
    bool good = (entries && left) || session_fail_memory(error, "the order of groups");
    for (size_t i = 0; good && i < set->count; i++)
        left[set->order[i]] = true;
    for (size_t i = 0; good && i < set->made; i++) {
        const uint32_t group = set->by_key[i];
        good = i % GROUPS_PER_LOOK != 0 || scan_go_on(set->session, error);
        if (left[group])
            entries[count++] = (struct sort_entry){keys[group], group};
    }
    good = good && sort_entries_of(set->session, entries, count, error);
    for (size_t i = 0; good && i < count; i++)
        set->order[i] = (uint32_t)entries[i].row;
    FREE_ALL(entries, left);
    return good;
}

bool session_groups_sort(struct session_group_set *set, enum session_group_measure measure,
                         bool descending, struct session_error *error)
{
    if (!session_groups_prepare(set, 1u << measure, error))
        return false;
    uint64_t *keys = calloc(set->made + 1, sizeof(*keys));
    if (!keys)
        return session_fail_memory(error, "the order of groups");
    bool good = true;
    for (size_t i = 0; good && i < set->count; i++) {
        const uint64_t value = group_measure(set, set->order[i], measure);
        keys[set->order[i]] = descending ? ~value : value;
        good = i % GROUPS_PER_LOOK != 0 || scan_go_on(set->session, error);
    }
    good = good && sort_left(set, keys, error);
    free(keys);
    return good;
}

bool session_groups_sort_by_key(struct session_group_set *set, size_t key, bool descending,
                                struct session_error *error)
{
    if (key >= set->keys.part_count)
        return session_fail(error, 0, "the groups have no key %zu", key);
    const size_t bytes = set->made * sizeof(*set->by_key);
    uint32_t *sorted = key > 0 ? malloc(bytes + 1) : set->by_key;
    uint64_t *keys = calloc(set->made + 1, sizeof(*keys));
    bool good = (sorted && keys) || session_fail_memory(error, "the order of groups");
    if (good && key > 0)
        good = sort_groups(set, key, memcpy(sorted, set->by_key, bytes), set->made, error);
    uint64_t rank = 0;
    for (size_t i = 0; good && i < set->made; i++) {
        good = i % GROUPS_PER_LOOK != 0 || scan_go_on(set->session, error);
        rank += i > 0 && compare_part(set, key, sorted[i - 1], sorted[i]) != 0;
        const bool null = group_key(set, sorted[i], key).is_null;
        keys[sorted[i]] = null ? UINT64_MAX : descending ? UINT64_MAX - 1 - rank : rank;
    }
    good = good && sort_left(set, keys, error);
    if (key > 0)
        free(sorted);
    free(keys);
    return good;
}

bool group_set_begin(struct session_group_set *set, struct session_error *error)
{
    if (!(set->order = malloc((set->made + 1) * sizeof(*set->order))))
        return session_fail_memory(error, "the order of groups");
    for (size_t i = 0; i < set->made; i++) {
        set->order[i] = (uint32_t)i;
        set->allocations += set->sums[i].allocations;
    }
    set->count = set->made;
    return group_find_key_order(set, error) && session_groups_sort(set, MEASURE_BYTES, true, error);
}

bool group_sort(struct session_group_set *set, const struct filter_step *step,
                struct session_error *error)
{
    if (filter_field_of_groups(step->field))
        return session_groups_sort(set,
                                   (enum session_group_measure)(step->field - FIELD_ALLOCATIONS),
                                   step->descending, error);
    for (size_t i = 0; i < set->keys.part_count; i++)
        if (set->keys.parts[i].field == step->field && set->keys.parts[i].frame == step->frame)
            return session_groups_sort_by_key(set, i, step->descending, error);
    return session_fail(error, step->field_column, "the groups have no key %s",
                        filter_fields[step->field].name);
}
