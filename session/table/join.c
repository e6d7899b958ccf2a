/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes groups: one pass finds the group of each row and its sums, later passes more sums. */
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "session/table/group_state.h"

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
    FREE_ALL(set->cell_of_group, set->group_of_cell, set->sums);
    for (size_t i = 0; i < SUMS_PARTS; i++)
        free(set->records[i]);
    FREE_ALL(set->peaks, set->by_key, set->order, set->color, set->nodes, set);
}

/* ---- sums ---- */

static void take_records(struct session_group_set *set, struct sums *sums)
{
    size_t free_place = 0;
    while (set->records[free_place])
        free_place++;
    set->records[free_place] = sums->words;
    for (unsigned part = 0; part < SUMS_PARTS; part++)
        if ((sums->parts & SUMS_BIT(part)) != 0)
            set->part[part] = (struct group_words){sums->words + sums->place[part], sums->width};
    sums->words = NULL;
}

/* Takes over the sums of the groups that were made. */
static bool take_sums(struct session_group_set *set, struct sums *sums, struct session_error *error)
{
    if (sums->width == 2) { /* a record is a group_sum */
        uint64_t *smaller = realloc(sums->words, (2 * set->made + 1) * sizeof(*sums->words));
        set->sums = (struct group_sum *)(smaller ? smaller : sums->words);
        sums->words = NULL;
        return true;
    }
    if (!(set->sums = malloc((set->made + 1) * sizeof(*set->sums))))
        return session_fail_memory(error, "the groups");
    for (size_t group = 0; group < set->made; group++) {
        const uint64_t *total = sums_of(sums, group, SUMS_TOTAL);
        set->sums[group] = (struct group_sum){total[0], total[1]};
    }
    take_records(set, sums);
    return true;
}

bool group_set_take_cells(struct session_group_set *set, struct sums *cells,
                          struct session_error *error)
{
    const size_t size = cells->width * sizeof(*cells->words);
    size_t made = 0;
    for (size_t cell = 0; cell < cells->count; cell++)
        made += sums_of(cells, cell, SUMS_TOTAL)[0] > 0;
    set->cell_of_group = malloc((made + 1) * sizeof(*set->cell_of_group));
    set->group_of_cell = malloc((cells->count + 1) * sizeof(*set->group_of_cell));
    bool good =
        (set->cell_of_group && set->group_of_cell) || session_fail_memory(error, "the groups");
    for (size_t cell = 0; good && cell < cells->count; cell++) {
        set->group_of_cell[cell] = CODE_NONE;
        if (sums_of(cells, cell, SUMS_TOTAL)[0] == 0)
            continue;
        memmove(cells->words + set->made * cells->width, cells->words + cell * cells->width, size);
        set->group_of_cell[cell] = (uint32_t)set->made;
        set->cell_of_group[set->made++] = (uint32_t)cell;
    }
    good = good && take_sums(set, cells, error);
    sums_free(cells);
    return good;
}

bool group_set_sum(struct session_group_set *set, const struct sums_query *also,
                   struct session_error *error)
{
    struct sums_query query = {.parts = 0};
    struct sums sums;
    bool known = false;
    if (also)
        query = *also;
    query.keys = &set->keys;
    query.parts |= SUMS_BIT(SUMS_TOTAL);
    if (!group_set_read_sums(set, &query, &sums, &known, error) ||
        (!known && !sums_find(set->session, &set->rows, &query, &sums, error)))
        return false;
    if (set->keys.cells > 0)
        return group_set_take_cells(set, &sums, error) && scan_go_on(set->session, error);
    set->made = sums.codes.count;
    set->codes = sums.codes;
    sums.codes = (struct code_map){.count = 0};
    const bool good = take_sums(set, &sums, error) && scan_go_on(set->session, error);
    sums_free(&sums);
    return good;
}

bool group_left(const struct session_group_set *set, uint8_t **left, struct session_error *error)
{
    *left = NULL;
    if (set->count == set->made)
        return true;
    *left = calloc(set->made, 1);
    if (!*left)
        return session_fail_memory(error, "the measures of groups");
    for (size_t i = 0; i < set->count; i++)
        (*left)[set->order[i]] = 1;
    return true;
}

bool group_find(struct session_group_set *set, unsigned wanted, struct session_error *error)
{
    struct sums_query query = {.set = set, .parts = 0};
    uint64_t points[GROUP_POINTS];
    struct sums sums;
    uint8_t *left = NULL;
    if (set->session->estimate && (wanted & GROUP_DETAILS) != 0)
        wanted |= SUMS_BIT(SUMS_VARIANCE);
    for (unsigned part = 0; part < SUMS_PARTS; part++)
        if ((wanted & SUMS_BIT(part)) != 0 && !set->part[part].words)
            query.parts |= SUMS_BIT(part);
    if (query.parts == 0)
        return true;
    if ((query.parts & SUMS_BIT(SUMS_MOMENTS)) != 0) {
        query.moments = points;
        query.moment_count = GROUP_POINTS;
    }
    for (uint64_t i = 0; i < GROUP_POINTS; i++)
        points[i] = (uint64_t)((unsigned __int128)set->session->duration_ns * (2 * i + 1) /
                               (UINT64_C(2) * GROUP_POINTS));
    if (!group_left(set, &left, error))
        return false;
    query.left = left;
    const bool good = sums_find(set->session, &set->rows, &query, &sums, error);
    free(left);
    if (good)
        take_records(set, &sums);
    return good;
}

/* ---- later passes ---- */

void group_keep_left(const uint8_t *left, struct kernel_rows *rows, uint32_t *groups)
{
    size_t kept = 0;
    for (size_t i = 0; left && i < rows->count; i++) {
        rows->row[kept] = rows->row[i];
        groups[kept] = groups[i];
        kept += left[groups[i]];
    }
    rows->count = left ? kept : rows->count;
}

void group_of_batch(const struct session_group_set *set, const struct group_key_views *views,
                    const struct kernel_rows *rows, uint32_t *groups)
{
    if (set->keys.cells > 0) {
        group_keys_cells(&set->keys, views, rows, groups);
        for (size_t i = 0; i < rows->count; i++)
            groups[i] = set->group_of_cell[groups[i]];
        return;
    }
    struct code codes[KERNEL_ROWS];
    group_keys_codes(&set->keys, views, rows, codes);
    for (size_t i = 0; i < rows->count; i++)
        groups[i] = code_map_find(&set->codes, codes[i]);
}

bool group_of_rows(const struct session_group_set *set, struct scan_worker *worker, uint32_t chunk,
                   const uint64_t *words, uint32_t *groups, struct session_error *error)
{
    struct group_key_views views;
    struct kernel_rows rows;
    uint32_t of_batch[KERNEL_ROWS];
    if (!group_keys_views(&set->keys, &set->rows, worker, chunk, &views, error))
        return false;
    KERNEL_EACH_BATCH(words, &rows)
    {
        group_of_batch(set, &views, &rows, of_batch);
        for (size_t i = 0; i < rows.count; i++)
            groups[rows.first + rows.row[i]] = of_batch[i];
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
        if (!(set->color = calloc(set->made + 1, sizeof(*set->color))))
            return session_fail_memory(error, "the colours of groups");
        for (uint32_t group = 0; group < set->made; group++)
            set->color[group] = (uint8_t)group_value(set, group, set->keys.parts[i].dimension);
    }
    return true;
}

struct session_group_set *group_join_plain(struct session *session, struct row_set *set,
                                           const struct filter_colors *colors,
                                           const struct filter_field_use *keys, size_t key_count,
                                           const struct sums_query *also,
                                           struct session_error *error)
{
    struct session_group_set *groups = group_set_new(session, set, colors, error);
    if (!groups)
        return NULL;
    if (!group_keys_open(session, keys, key_count, &groups->colors, &groups->keys, error) ||
        !group_set_sum(groups, also, error) || !take_colors(groups, error)) {
        session_groups_free(groups);
        return NULL;
    }
    return groups;
}

struct session_group_set *group_join(struct session *session, struct row_set *set,
                                     const struct filter_colors *colors,
                                     const struct filter_field_use *keys, size_t key_count,
                                     const struct sums_query *also, struct session_error *error)
{
    struct session_group_set *groups =
        group_join_plain(session, set, colors, keys, key_count, also, error);
    if (groups && !group_set_begin(groups, error)) {
        session_groups_free(groups);
        return NULL;
    }
    return groups;
}
