/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes groups: one pass over the rows finds the group of each and sums up what every set of groups
 * has. Each thread has sums of its own, which are added up afterwards.
 */
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/group/group_state.h"
#include "session/scan/estimate.h"

/* Threads may have this much memory of their own together. */
#define THREAD_BYTES ((size_t)64 << 20)

size_t group_threads(const struct session_group_set *set, size_t bytes)
{
    const size_t most = scan_threads(set->session);
    const size_t fit = THREAD_BYTES / (bytes + 1);
    return fit < 1 ? 1 : fit < most ? fit : most;
}

struct session_group_set *group_set_new(struct session *session, struct row_set *rows,
                                        const struct filter_colors *colors,
                                        struct session_error *error)
{
    struct session_group_set *set = calloc(1, sizeof(*set));
    if (!set) {
        row_set_free(rows);
        session_fail_memory(error, "the groups");
        return NULL;
    }
    set->session = session;
    set->rows = *rows;
    set->rows.sorted = false;
    *rows = (struct row_set){.words = NULL};
    if (colors)
        set->colors = *colors;
    return set;
}

void session_groups_free(struct session_group_set *set)
{
    if (!set)
        return;
    row_set_free(&set->rows);
    group_keys_close(&set->keys);
    code_map_free(&set->codes);
    free(set->cell_of_group);
    free(set->group_of_cell);
    free(set->sums);
    free(set->details);
    free(set->shapes);
    free(set->padding);
    free(set->variances);
    free(set->peaks);
    free(set->by_key);
    free(set->order);
    free(set->color);
    free(set->nodes);
    free(set);
}

/* ---- the first pass ---- */

/* The sums of one thread. */
struct summing {
    const struct session_group_set *set;
    struct group_sum *sums; /* by cell, or by the number of a code */
    size_t capacity;
    struct code_map codes;
    uint32_t cells[COLUMN_CHUNK_ROWS];
    struct estimate_rows *estimated; /* NULL: the session is not sampled */
};

/* Stores the numbers of the rows' codes. */
static bool find_codes(struct summing *summing, const struct group_key_views *views,
                       struct session_error *error)
{
    struct code last = {0, 0};
    uint32_t number = CODE_NONE;
    ROW_SET_EACH(views->words, row)
    {
        const struct code code = group_keys_code(&summing->set->keys, views, row);
        if (number == CODE_NONE || code.low != last.low || code.high != last.high) {
            if (!code_map_add(&summing->codes, code, GROUPS_MAX, &number))
                return summing->codes.count < GROUPS_MAX
                           ? session_fail_memory(error, "the groups")
                           : session_fail(error, 0,
                                          "more than %zu groups: join by fewer fields, or filter "
                                          "first",
                                          GROUPS_MAX);
            last = code;
        }
        summing->cells[row] = number;
    }
    if (summing->codes.capacity > summing->capacity) {
        const size_t capacity = summing->codes.capacity;
        struct group_sum *sums = realloc(summing->sums, capacity * sizeof(*sums));
        if (!sums)
            return session_fail_memory(error, "the groups");
        memset(sums + summing->capacity, 0, (capacity - summing->capacity) * sizeof(*sums));
        summing->sums = sums;
        summing->capacity = capacity;
    }
    return true;
}

static bool sum_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                      struct session_error *error)
{
    struct summing *summing = context;
    const struct session_group_set *set = summing->set;
    struct group_key_views views;
    struct column_view size, bytes, counts;
    if (row_set_chunk_empty(&set->rows, chunk))
        return true;
    if (!group_keys_views(&set->keys, &set->rows, worker, chunk, &views, error) ||
        !scan_column(worker, chunk, COLUMN_SIZE, &size, error))
        return false;
    /* A view is valid until its column is read again. */
    for (size_t i = 0; i < set->keys.dimension_count; i++) {
        if (set->keys.dimensions[i].column == COLUMN_SIZE)
            views.views[i] = size;
    }
    estimate_chunk(set->session->estimate, (uint64_t)chunk * COLUMN_CHUNK_ROWS, &size,
                   summing->estimated, &bytes, &counts);
    if (set->keys.cells > 0)
        group_keys_cells(&set->keys, &views, summing->cells);
    else if (!find_codes(summing, &views, error))
        return false;
    ROW_SET_EACH(views.words, row)
    {
        struct group_sum *sum = &summing->sums[summing->cells[row]];
        sum->bytes += column_view_at(&bytes, row);
        sum->allocations += column_view_at(&counts, row);
    }
    return true;
}

static void summing_free(struct summing *summing)
{
    if (!summing)
        return;
    free(summing->sums);
    free(summing->estimated);
    code_map_free(&summing->codes);
    free(summing);
}

static struct summing *summing_new(const struct session_group_set *set)
{
    struct summing *summing = calloc(1, sizeof(*summing));
    if (!summing)
        return NULL;
    summing->set = set;
    summing->capacity = (size_t)set->keys.cells;
    if (set->session->estimate)
        summing->estimated = malloc(sizeof(*summing->estimated));
    summing->sums = calloc(summing->capacity + 1, sizeof(*summing->sums));
    if (!summing->sums || (set->session->estimate && !summing->estimated)) {
        summing_free(summing);
        return NULL;
    }
    return summing;
}

/* Adds the sums of another thread. Fails only for codes. */
static bool add_sums(struct summing *sum, const struct summing *part, struct session_error *error)
{
    const bool codes = sum->set->keys.cells == 0;
    const size_t count = codes ? part->codes.count : part->capacity;
    for (size_t i = 0; i < count; i++) {
        uint32_t number = (uint32_t)i;
        if (codes && !code_map_add(&sum->codes, part->codes.codes[i], GROUPS_MAX, &number))
            return session_fail(error, 0,
                                "more than %zu groups: join by fewer fields, or filter "
                                "first",
                                GROUPS_MAX);
        if (number >= sum->capacity) {
            const size_t capacity = sum->codes.capacity;
            struct group_sum *sums = realloc(sum->sums, capacity * sizeof(*sums));
            if (!sums)
                return session_fail_memory(error, "the groups");
            memset(sums + sum->capacity, 0, (capacity - sum->capacity) * sizeof(*sums));
            sum->sums = sums;
            sum->capacity = capacity;
        }
        sum->sums[number].allocations += part->sums[i].allocations;
        sum->sums[number].bytes += part->sums[i].bytes;
    }
    return true;
}

bool group_set_take_cells(struct session_group_set *set, struct group_sum *cells, size_t count,
                          struct session_error *error)
{
    size_t made = 0;
    for (size_t cell = 0; cell < count; cell++)
        made += cells[cell].allocations > 0;
    set->cell_of_group = malloc((made + 1) * sizeof(*set->cell_of_group));
    set->group_of_cell = malloc((count + 1) * sizeof(*set->group_of_cell));
    if (!set->cell_of_group || !set->group_of_cell) {
        free(cells);
        return session_fail_memory(error, "the groups");
    }
    for (size_t cell = 0; cell < count; cell++) {
        set->group_of_cell[cell] = CODE_NONE;
        if (cells[cell].allocations == 0)
            continue;
        cells[set->made] = cells[cell];
        set->group_of_cell[cell] = (uint32_t)set->made;
        set->cell_of_group[set->made++] = (uint32_t)cell;
    }
    struct group_sum *smaller = realloc(cells, (made + 1) * sizeof(*cells));
    set->sums = smaller ? smaller : cells;
    return true;
}

static bool take_sums(struct session_group_set *set, struct summing *sum,
                      struct session_error *error)
{
    struct group_sum *sums = sum->sums;
    sum->sums = NULL;
    if (set->keys.cells > 0)
        return group_set_take_cells(set, sums, (size_t)set->keys.cells, error);
    set->sums = sums;
    set->codes = sum->codes;
    set->made = sum->codes.count;
    sum->codes = (struct code_map){.count = 0};
    return true;
}

bool group_set_sum(struct session_group_set *set, struct session_error *error)
{
    struct summing *contexts[SCAN_THREADS_MAX] = {NULL};
    const size_t threads = group_threads(set, (size_t)set->keys.cells * sizeof(struct group_sum));
    bool good = true;
    for (size_t i = 0; good && i < threads; i++) {
        contexts[i] = summing_new(set);
        good = contexts[i] || session_fail_memory(error, "the groups");
    }
    good = good && scan_chunks(set->session, set->rows.chunks, sum_chunk, (void **)contexts,
                               threads, error);
    for (size_t i = 1; good && i < threads; i++)
        good = add_sums(contexts[0], contexts[i], error);
    good = good && take_sums(set, contexts[0], error);
    for (size_t i = 0; i < threads; i++)
        summing_free(contexts[i]);
    return good;
}

/* ---- later passes ---- */

bool group_of_rows(const struct session_group_set *set, struct scan_worker *worker, uint32_t chunk,
                   const uint64_t *words, uint32_t *groups, struct session_error *error)
{
    struct group_key_views views;
    if (!group_keys_views(&set->keys, &set->rows, worker, chunk, &views, error))
        return false;
    views.words = words;
    if (set->keys.cells == 0) {
        ROW_SET_EACH(views.words, row)
        {
            groups[row] = code_map_find(&set->codes, group_keys_code(&set->keys, &views, row));
        }
        return true;
    }
    group_keys_cells(&set->keys, &views, groups);
    ROW_SET_EACH(views.words, row)
    {
        groups[row] = set->group_of_cell[groups[row]];
    }
    return true;
}

/* ---- join ---- */

/* Gives groups that are joined by colour that colour. */
static bool take_colors(struct session_group_set *set, struct session_error *error)
{
    for (size_t i = 0; i < set->keys.part_count; i++) {
        if (set->keys.parts[i].field != FIELD_COLOR)
            continue;
        set->color = calloc(set->made + 1, sizeof(*set->color));
        if (!set->color)
            return session_fail_memory(error, "the colours of groups");
        for (uint32_t group = 0; group < set->made; group++)
            set->color[group] = (uint8_t)group_value(set, group, set->keys.parts[i].dimension);
    }
    return true;
}

struct session_group_set *group_join(struct session *session, struct row_set *set,
                                     const struct filter_colors *colors,
                                     const struct filter_field_use *keys, size_t key_count,
                                     struct session_error *error)
{
    struct session_group_set *groups = group_set_new(session, set, colors, error);
    if (!groups)
        return NULL;
    if (!group_keys_open(session, keys, key_count, &groups->colors, &groups->keys, error) ||
        !group_set_sum(groups, error) || !take_colors(groups, error) ||
        !group_set_begin(groups, error)) {
        session_groups_free(groups);
        return NULL;
    }
    return groups;
}
