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

/*
 * Many sums do not fit into a core's cache. Both sums of a cell then first share one word, bytes in
 * its upper bits and the number of rows in its lower ones. The words are emptied before they can
 * run over.
 */
enum { PACKED_CELLS_MIN = 4096, PACKED_COUNT_BITS = 24 };
enum { CELLS_PER_LOOK = 1 << 18 };
#define PACKED_BYTES_MAX (UINT64_C(1) << (64 - PACKED_COUNT_BITS))

/* The sums of one thread. */
struct summing {
    const struct session_group_set *set;
    struct group_sum *sums; /* by cell, or by the number of a code */
    size_t capacity;
    uint64_t *packed;                   /* by cell, NULL: not used */
    uint64_t packed_rows, packed_bytes; /* they hold at most so many */
    struct code_map codes;
    struct estimate_rows *estimated; /* NULL: the session is not sampled */
};

static bool fail_codes(const struct code_map *codes, struct session_error *error)
{
    if (codes->count < GROUPS_MAX)
        return session_fail_memory(error, "the groups");
    return session_fail(error, 0, "more than %zu groups: join by fewer fields, or filter first",
                        GROUPS_MAX);
}

/* Makes the sums as long as the codes are many. */
static bool room_for_sums(struct summing *summing, struct session_error *error)
{
    const size_t capacity = summing->codes.capacity;
    if (capacity <= summing->capacity)
        return true;
    struct group_sum *sums = realloc(summing->sums, capacity * sizeof(*sums));
    if (!sums)
        return session_fail_memory(error, "the groups");
    memset(sums + summing->capacity, 0, (capacity - summing->capacity) * sizeof(*sums));
    summing->sums = sums;
    summing->capacity = capacity;
    return true;
}

/* Stores the numbers of the codes of a batch's rows. */
static bool number_codes(struct summing *summing, const struct group_key_views *views,
                         const struct kernel_rows *rows, uint32_t *numbers,
                         struct session_error *error)
{
    struct code codes[KERNEL_ROWS];
    group_keys_codes(&summing->set->keys, views, rows, codes);
    for (size_t i = 0; i < rows->count; i++) {
        if (i > 0 && codes[i].low == codes[i - 1].low && codes[i].high == codes[i - 1].high)
            numbers[i] = numbers[i - 1];
        else if (!code_map_add(&summing->codes, codes[i], GROUPS_MAX, &numbers[i]))
            return fail_codes(&summing->codes, error);
    }
    return room_for_sums(summing, error);
}

static void add_packed(uint64_t *packed, const uint32_t *cells, const uint64_t *bytes, size_t count)
{
    /* Fetches each word ahead of its turn. */
    const size_t ahead = 24;
    for (size_t i = 0; i < count; i++) {
        if (i + ahead < count)
            __builtin_prefetch(&packed[cells[i + ahead]], 1);
        packed[cells[i]] += bytes[i] << PACKED_COUNT_BITS | 1;
    }
}

static void empty_packed(struct summing *summing)
{
    for (size_t cell = 0; summing->packed && cell < summing->capacity; cell++) {
        const uint64_t word = summing->packed[cell];
        if (word == 0)
            continue;
        summing->sums[cell].bytes += word >> PACKED_COUNT_BITS;
        summing->sums[cell].allocations += word & ((1 << PACKED_COUNT_BITS) - 1);
        summing->packed[cell] = 0;
    }
    summing->packed_rows = summing->packed_bytes = 0;
}

/* Returns true if the sums of a chunk fit into the words, which it empties if need be. */
static bool room_in_packed(struct summing *summing, const struct column_view *size)
{
    if (!summing->packed || size->max >= PACKED_BYTES_MAX / COLUMN_CHUNK_ROWS)
        return false;
    if (summing->packed_rows + size->rows >= UINT64_C(1) << PACKED_COUNT_BITS ||
        summing->packed_bytes + size->rows * size->max >= PACKED_BYTES_MAX)
        empty_packed(summing);
    summing->packed_rows += size->rows;
    summing->packed_bytes += size->rows * size->max;
    return true;
}

static bool sum_batch(struct summing *summing, const struct group_key_views *views,
                      const struct kernel_rows *rows, const struct column_view *bytes,
                      const struct column_view *counts, bool packed, struct session_error *error)
{
    uint32_t numbers[KERNEL_ROWS];
    uint64_t values[KERNEL_ROWS];
    if (summing->set->keys.cells > 0)
        group_keys_cells(&summing->set->keys, views, rows, numbers);
    else if (!number_codes(summing, views, rows, numbers, error))
        return false;
    kernel_take(bytes, rows, values);
    if (packed) {
        add_packed(summing->packed, numbers, values, rows->count);
        return true;
    }
    if (!summing->estimated) {
        for (size_t i = 0; i < rows->count; i++) {
            summing->sums[numbers[i]].bytes += values[i];
            summing->sums[numbers[i]].allocations++;
        }
        return true;
    }
    for (size_t i = 0; i < rows->count; i++)
        summing->sums[numbers[i]].bytes += values[i];
    kernel_take(counts, rows, values);
    for (size_t i = 0; i < rows->count; i++)
        summing->sums[numbers[i]].allocations += values[i];
    return true;
}

static bool sum_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                      struct session_error *error)
{
    struct summing *summing = context;
    const struct session_group_set *set = summing->set;
    struct group_key_views views;
    struct kernel_rows rows;
    struct column_view size, bytes, counts;
    if (row_set_chunk_empty(&set->rows, chunk))
        return true;
    if (!group_keys_views(&set->keys, &set->rows, worker, chunk, &views, error) ||
        !scan_column(worker, chunk, COLUMN_SIZE, &size, error))
        return false;
    group_keys_reread(&set->keys, &views, COLUMN_SIZE, &size);
    estimate_chunk(set->session->estimate, (uint64_t)chunk * COLUMN_CHUNK_ROWS, &size,
                   summing->estimated, &bytes, &counts);
    const bool packed = room_in_packed(summing, &size);
    KERNEL_EACH_BATCH(row_set_chunk(&set->rows, chunk), &rows)
    {
        if (!sum_batch(summing, &views, &rows, &bytes, &counts, packed, error))
            return false;
    }
    return true;
}

static void summing_free(struct summing *summing)
{
    if (!summing)
        return;
    free(summing->sums);
    free(summing->packed);
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
    const bool packed = !set->session->estimate && summing->capacity >= PACKED_CELLS_MIN;
    if (packed)
        summing->packed = calloc(summing->capacity, sizeof(*summing->packed));
    if (!summing->sums || (set->session->estimate && !summing->estimated) ||
        (packed && !summing->packed)) {
        summing_free(summing);
        return NULL;
    }
    return summing;
}

/* Adds the sums of another thread. */
static bool add_sums(struct summing *sum, const struct summing *part, struct session_error *error)
{
    const bool codes = sum->set->keys.cells == 0;
    const size_t count = codes ? part->codes.count : part->capacity;
    for (size_t i = 0; i < count; i++) {
        uint32_t number = (uint32_t)i;
        if (i % CELLS_PER_LOOK == 0 && !scan_go_on(sum->set->session, error))
            return false;
        if (codes && !code_map_add(&sum->codes, part->codes.codes[i], GROUPS_MAX, &number))
            return fail_codes(&sum->codes, error);
        if (codes && !room_for_sums(sum, error))
            return false;
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
    bool known;
    bool good = group_set_read_sums(set, &known, error);
    if (!good || known)
        return good;
    for (size_t i = 0; good && i < threads; i++) {
        contexts[i] = summing_new(set);
        good = contexts[i] || session_fail_memory(error, "the groups");
    }
    good = good && scan_chunks(set->session, set->rows.chunks, sum_chunk, (void **)contexts,
                               threads, error);
    for (size_t i = 0; good && i < threads; i++) {
        empty_packed(contexts[i]);
        good = scan_go_on(set->session, error);
    }
    for (size_t i = 1; good && i < threads; i++)
        good = add_sums(contexts[0], contexts[i], error);
    good = good && take_sums(set, contexts[0], error) && scan_go_on(set->session, error);
    for (size_t i = 0; i < threads; i++)
        summing_free(contexts[i]);
    return good;
}

/* ---- later passes ---- */

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
        set->color = calloc(set->made + 1, sizeof(*set->color));
        if (!set->color)
            return session_fail_memory(error, "the colours of groups");
        for (uint32_t group = 0; group < set->made; group++)
            set->color[group] = (uint8_t)group_value(set, group, set->keys.parts[i].dimension);
    }
    return true;
}

struct session_group_set *group_join_plain(struct session *session, struct row_set *set,
                                           const struct filter_colors *colors,
                                           const struct filter_field_use *keys, size_t key_count,
                                           struct session_error *error)
{
    struct session_group_set *groups = group_set_new(session, set, colors, error);
    if (!groups)
        return NULL;
    if (!group_keys_open(session, keys, key_count, &groups->colors, &groups->keys, error) ||
        !group_set_sum(groups, error) || !take_colors(groups, error)) {
        session_groups_free(groups);
        return NULL;
    }
    return groups;
}

struct session_group_set *group_join(struct session *session, struct row_set *set,
                                     const struct filter_colors *colors,
                                     const struct filter_field_use *keys, size_t key_count,
                                     struct session_error *error)
{
    struct session_group_set *groups =
        group_join_plain(session, set, colors, keys, key_count, error);
    if (groups && !group_set_begin(groups, error)) {
        session_groups_free(groups);
        return NULL;
    }
    return groups;
}
