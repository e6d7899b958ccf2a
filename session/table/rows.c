/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists the allocations of a selection in any order. Keeps the parts that were last asked for. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/filter/program.h"
#include "session/filter/sort_order.h"
#include "session/rows.h"
#include "session/session.h"
#include "session/store/error.h"
#include "session/store/row_set.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"
#include "session/table/selection_state.h"

/* ---- the window of sorted rows ---------------------------------------------------------- */

/* Finds a few rows in the middle of a sorted set without sorting the set.
 *
 * A pass counts the rows by equal parts of the range of keys, which tells in which part the wanted
 * rows lie; the next pass divides that part (a selection by digits: Knuth, TAOCP 3, 5.3.3, and
 * 5.2.5). When few rows are left, they are collected and sorted. Rows with equal keys are in the
 * order of ids: for a long run of them a pass counts its rows by chunk. So the number of passes
 * depends on the range of the keys and not on the number of rows, and memory is bounded. */

enum {
    PARTS = 4096,      /* of a range, in one pass */
    FEW_ROWS = 1 << 16 /* so many are collected and sorted */
};

/* The work of a pass on the rows whose keys lie in its range. */
enum pass_kind {
    PASS_COUNT_PARTS, /* counts them by part, and the nulls */
    PASS_COLLECT,
    PASS_COUNT_CHUNKS,
    PASS_COUNT_BEFORE, /* counts those before `row`, whose key is `high` */
};

/* The part of a pass that all threads read. */
struct pass {
    enum pass_kind kind;
    struct session *session;
    const struct row_set *set;
    struct sort_key key;
    uint64_t low, high; /* of the range, both included */
    unsigned shift;     /* COUNT_PARTS: part = (key - low) >> shift */
    uint64_t row;
    struct sort_entry *entries; /* COLLECT: `room` of them */
    atomic_size_t collected;
    size_t room;
    uint32_t *by_chunk; /* COUNT_CHUNKS */
};

struct counts {
    struct pass *pass;
    uint64_t nulls, before, part[PARTS];
};

static void count_parts(struct counts *counts, const uint64_t *keys, size_t count)
{
    const uint64_t low = counts->pass->low, width = counts->pass->high - low;
    const unsigned shift = counts->pass->shift;
    for (size_t i = 0; i < count; i++)
        if (keys[i] - low <= width)
            counts->part[(keys[i] - low) >> shift]++;
        else
            counts->nulls += keys[i] == SORT_KEY_NULL;
}

static void collect(struct pass *pass, const uint64_t *keys, const struct kernel_rows *rows,
                    uint64_t first_row)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (keys[i] < pass->low || keys[i] > pass->high)
            continue;
        const size_t place = atomic_fetch_add_explicit(&pass->collected, 1, memory_order_relaxed);
        if (place < pass->room)
            pass->entries[place] = (struct sort_entry){keys[i], first_row + rows->row[i]};
    }
}

static void count_before(struct counts *counts, const uint64_t *keys,
                         const struct kernel_rows *rows, uint64_t first_row)
{
    const struct pass *pass = counts->pass;
    for (size_t i = 0; i < rows->count; i++)
        counts->before +=
            keys[i] < pass->high || (keys[i] == pass->high && first_row + rows->row[i] < pass->row);
}

/* Returns true if no key of a chunk lies in the range. */
static bool is_outside(const struct pass *pass, uint32_t chunk)
{
    uint64_t low, high;
    if (row_set_chunk_empty(pass->set, chunk))
        return true;
    return sort_key_chunk_bounds(&pass->key, pass->session->columns, chunk, &low, &high) &&
           (low > pass->high || high < pass->low);
}

static bool visit(void *context, struct scan_worker *worker, uint32_t chunk,
                  struct session_error *error)
{
    struct counts *counts = context;
    struct pass *pass = counts->pass;
    struct sort_key_chunk columns;
    struct kernel_rows rows;
    uint64_t keys[KERNEL_ROWS];
    uint32_t here = 0;
    if (is_outside(pass, chunk))
        return true;
    if (!sort_key_chunk(&pass->key, pass->set, worker, chunk, &columns, error))
        return false;
    KERNEL_EACH_BATCH(row_set_chunk(pass->set, chunk), &rows)
    {
        sort_key_take(&pass->key, &columns, &rows, keys);
        switch (pass->kind) {
        case PASS_COUNT_PARTS:
            count_parts(counts, keys, rows.count);
            break;
        case PASS_COLLECT:
            collect(pass, keys, &rows, columns.first_row + rows.first);
            break;
        case PASS_COUNT_CHUNKS:
            for (size_t i = 0; i < rows.count; i++)
                here += keys[i] >= pass->low && keys[i] <= pass->high;
            break;
        case PASS_COUNT_BEFORE:
            count_before(counts, keys, &rows, columns.first_row + rows.first);
            break;
        }
    }
    if (pass->kind == PASS_COUNT_CHUNKS)
        pass->by_chunk[chunk] = here;
    return true;
}

/* Runs a pass and adds the counts of its threads to `sums`, which is zero before. */
static bool run(struct pass *pass, struct counts *sums, struct session_error *error)
{
    struct scan_contexts contexts;
    if (!scan_contexts_open(pass->session, &contexts, sizeof(struct counts), SIZE_MAX, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++)
        ((struct counts *)contexts.each[i])->pass = pass;
    const bool good = scan_chunks(pass->session, pass->set->chunks, visit, contexts.each,
                                  contexts.threads, error);
    for (size_t i = 0; i < contexts.threads; i++) {
        const struct counts *counts = contexts.each[i];
        sums->nulls += counts->nulls;
        sums->before += counts->before;
        for (size_t part = 0; pass->kind == PASS_COUNT_PARTS && part < PARTS; part++)
            sums->part[part] += counts->part[part];
    }
    scan_contexts_close(&contexts);
    return good;
}

/* The rows that are wanted, and those found so far. */
struct window {
    uint64_t first;
    size_t capacity, count;
    uint64_t *rows;
};

ARRAY_ORDER(compare_entries, struct sort_entry, ORDER(a->key, b->key) ?: ORDER(a->row, b->row))

/* Takes the rows of the pass's range, `number` of them, without the first `skip`. */
static bool take_range(struct pass *pass, struct window *window, uint64_t number, uint64_t skip,
                       struct session_error *error)
{
    struct counts *unused = calloc(1, sizeof(*unused));
    pass->kind = PASS_COLLECT;
    pass->room = (size_t)number;
    pass->entries = malloc((pass->room + 1) * sizeof(*pass->entries));
    atomic_store(&pass->collected, 0);
    const bool good = pass->entries && unused ? run(pass, unused, error)
                                              : session_fail_memory(error, "the sort order");
    const size_t found = pass->collected < pass->room ? pass->collected : pass->room;
    if (good)
        qsort(pass->entries, found, sizeof(*pass->entries), compare_entries);
    for (uint64_t i = skip; good && i < found && window->count < window->capacity; i++)
        window->rows[window->count++] = pass->entries[i].row;
    FREE_ALL(pass->entries, unused);
    return good;
}

/* Takes rows of one chunk with the one key of the range, without the first `skip`. */
static bool take_chunk(struct pass *pass, struct window *window, uint32_t chunk, uint64_t skip,
                       struct session_error *error)
{
    /* One set with this chunk alone, so that the pass reads nothing else. */
    struct row_set one = *pass->set;
    const struct row_set *all = pass->set;
    struct window part = {.capacity = window->capacity - window->count,
                          .rows = window->rows + window->count};
    const size_t words = (size_t)one.chunks * ROW_SET_WORDS;
    if (!(one.words = calloc(words + 1, sizeof(*one.words))))
        return session_fail_memory(error, "the sort order");
    memcpy(row_set_chunk(&one, chunk), row_set_chunk(all, chunk),
           ROW_SET_WORDS * sizeof(*one.words));
    pass->set = &one;
    const bool good = take_range(pass, &part, COLUMN_CHUNK_ROWS, skip, error);
    pass->set = all;
    free(one.words);
    window->count += part.count;
    return good;
}

/* Takes rows that all have the key `key`, without the first `skip`. */
static bool take_run(struct pass *pass, struct window *window, uint64_t key, uint64_t skip,
                     struct session_error *error)
{
    struct counts *unused = calloc(1, sizeof(*unused));
    pass->kind = PASS_COUNT_CHUNKS;
    pass->low = pass->high = key;
    pass->by_chunk = calloc((size_t)pass->set->chunks + 1, sizeof(*pass->by_chunk));
    bool good = pass->by_chunk && unused ? run(pass, unused, error)
                                         : session_fail_memory(error, "the sort order");
    for (uint32_t chunk = 0; good && chunk < pass->set->chunks; chunk++) {
        const uint32_t here = pass->by_chunk[chunk];
        if (window->count == window->capacity)
            break;
        if (here > skip)
            good = take_chunk(pass, window, chunk, skip, error);
        skip = here > skip ? 0 : skip - here;
    }
    FREE_ALL(pass->by_chunk, unused);
    return good;
}

/* A range of keys, and the rows with smaller ones. */
struct range {
    uint64_t low, high, before;
};

/* Narrows a range to the parts that begin with the one that holds the row at `place`: as many as
 * have few rows, at least one. Stores the number of their rows, 0 if the row's key is null. */
static bool narrow(struct pass *pass, uint64_t place, struct range *range, uint64_t *number,
                   struct session_error *error)
{
    struct counts *counts = calloc(1, sizeof(*counts));
    if (!counts)
        return session_fail_memory(error, "the sort order");
    pass->kind = PASS_COUNT_PARTS;
    pass->low = range->low;
    pass->high = range->high;
    for (pass->shift = 0; (range->high - range->low) >> pass->shift >= PARTS;)
        pass->shift++;
    const bool good = run(pass, counts, error);
    *number = 0;
    for (uint64_t part = 0; good && part < PARTS; part++) {
        if (place - range->before >= counts->part[part]) {
            range->before += counts->part[part];
            continue;
        }
        uint64_t last = part;
        *number = counts->part[part];
        while (last + 1 < PARTS && *number + counts->part[last + 1] <= FEW_ROWS)
            *number += counts->part[++last];
        const uint64_t end = ((last + 1) << pass->shift) - 1;
        if (end < range->high - range->low && last + 1 < PARTS)
            range->high = range->low + end;
        range->low += part << pass->shift;
        break;
    }
    free(counts);
    return good;
}

/* Adds the next rows to the window: at least one, if there are more. */
static bool add_rows(struct pass *pass, const struct range *whole, struct window *window,
                     struct session_error *error)
{
    const uint64_t place = window->first + window->count;
    struct range range = *whole;
    uint64_t number = UINT64_MAX;
    while (number > FEW_ROWS) {
        if (range.low == range.high && number != UINT64_MAX)
            return take_run(pass, window, range.low, place - range.before, error);
        if (!narrow(pass, place, &range, &number, error))
            return false;
        if (number == 0)
            return take_run(pass, window, SORT_KEY_NULL, place - range.before, error);
    }
    pass->low = range.low;
    pass->high = range.high;
    return take_range(pass, window, number, place - range.before, error);
}

/* Stores the rows (id - 1) at the places from `first` on, in the set's order: `capacity` of them or
 * as many as there are. Returns false with `error` set. */
static bool sort_window_rows(struct session *session, const struct row_set *set,
                             const struct filter_colors *colors, uint64_t first, size_t capacity,
                             uint64_t *rows, size_t *count, struct session_error *error)
{
    struct pass pass = {.session = session, .set = set};
    struct window window = {.first = first, .capacity = capacity, .rows = rows};
    struct range whole = {.before = 0};
    bool good = sort_key_open(session, set, colors, &pass.key, error);
    sort_key_bounds(&pass.key, session->columns, &whole.low, &whole.high);
    for (size_t before = SIZE_MAX; good && window.count < capacity && window.count != before;) {
        before = window.count;
        good = add_rows(&pass, &whole, &window, error);
    }
    sort_key_close(&pass.key);
    *count = good ? window.count : 0;
    return good;
}

static bool key_of_row(struct pass *pass, uint64_t row, uint64_t *key, struct session_error *error)
{
    const uint32_t chunk = (uint32_t)(row / COLUMN_CHUNK_ROWS);
    struct sort_key_chunk columns = {.first_row = (uint64_t)chunk * COLUMN_CHUNK_ROWS};
    struct kernel_rows one = {.first = row % COLUMN_CHUNK_ROWS / KERNEL_ROWS * KERNEL_ROWS,
                              .count = 1};
    one.row[0] = (uint16_t)(row % KERNEL_ROWS);
    if (!scan_look(pass->session, chunk, pass->key.column, &columns.value, error) ||
        !scan_look(pass->session, chunk,
                   pass->key.field == FIELD_CROSSED ? COLUMN_THREAD : COLUMN_ALLOC_NS,
                   &columns.begin, error))
        return false;
    if (pass->set->colors)
        columns.colors = pass->set->colors + columns.first_row;
    sort_key_take(&pass->key, &columns, &one, key);
    return true;
}

/* Stores how many rows of the set come before `row` in the set's order. False with `error` set. */
static bool sort_window_place(struct session *session, const struct row_set *set,
                              const struct filter_colors *colors, uint64_t row, uint64_t *place,
                              struct session_error *error)
{
    struct pass pass = {
        .kind = PASS_COUNT_BEFORE, .session = session, .set = set, .row = row, .low = 0};
    struct counts *counts = calloc(1, sizeof(*counts));
    if (!counts)
        return session_fail_memory(error, "the sort order");
    const bool good = sort_key_open(session, set, colors, &pass.key, error) &&
                      key_of_row(&pass, row, &pass.high, error) && run(&pass, counts, error);
    *place = counts->before;
    sort_key_close(&pass.key);
    free(counts);
    return good;
}

/* A part that is kept: rows at places that begin with a multiple of PART. */
enum { PART = 4096 };

struct rows_part {
    struct session_row_order order;
    uint64_t first;
    size_t count;
    uint64_t rows[PART];
};

/* Sets the order of a copy of the selection's set, which shares its rows. */
static struct row_set ordered_set(const struct selection *selection,
                                  const struct session_row_order *order)
{
    static const enum filter_field fields[ROWS_FIELDS] = {[ROWS_BY_ID] = FIELD_ID,
                                                          [ROWS_BY_ADDRESS] = FIELD_ADDRESS,
                                                          [ROWS_BY_SIZE] = FIELD_SIZE,
                                                          [ROWS_BY_COUNT] = FIELD_COUNT,
                                                          [ROWS_BY_TYPE] = FIELD_TYPE,
                                                          [ROWS_BY_FUNCTION] = FIELD_FUNCTION,
                                                          [ROWS_BY_USER] = FIELD_USER,
                                                          [ROWS_BY_THREAD] = FIELD_THREAD,
                                                          [ROWS_BY_TIME] = FIELD_ALLOC_TIME,
                                                          [ROWS_BY_LIFETIME] = FIELD_LIFETIME,
                                                          [ROWS_BY_FREE_THREAD] =
                                                              FIELD_FREE_THREAD};
    struct row_set set = selection->set;
    if (order->field == ROWS_AS_FILTERED)
        return set;
    set.sorted = true;
    set.sort_field = fields[order->field];
    set.descending = order->descending;
    return set;
}

/* Returns true if the order is that of the ids, so that places can be counted. */
static bool is_by_id(const struct row_set *set)
{
    return !set->sorted || set->sort_field == FIELD_ID;
}

/* Finds the n-th row by id, from the last one if the order is descending. */
static uint64_t nth_by_id(const struct selection *selection, const struct row_set *set, uint64_t n)
{
    const bool back = set->sorted && set->descending;
    return selection_nth_row(selection, back ? selection_count(selection) - 1 - n : n);
}

/* Returns the part with the place `first`, a multiple of PART, or NULL with `error` set. */
static const struct rows_part *find_part(struct selection *selection,
                                         const struct session_row_order *order,
                                         const struct row_set *set, uint64_t first,
                                         struct session_error *error)
{
    struct rows_part **kept = selection->parts;
    for (size_t i = 0; i < SELECTION_PARTS; i++) {
        struct rows_part *part = kept[i];
        if (!part || part->first != first || part->order.field != order->field ||
            part->order.descending != order->descending)
            continue;
        memmove(kept + 1, kept, i * sizeof(struct rows_part *));
        kept[0] = part;
        return part;
    }
    struct rows_part *part = malloc(sizeof(*part));
    if (!part)
        return session_fail_memory_null(error, "the list");
    part->order = *order;
    part->first = first;
    if (!sort_window_rows(selection->session, set, &selection->colors, first, PART, part->rows,
                          &part->count, error)) {
        free(part);
        return NULL;
    }
    free(kept[SELECTION_PARTS - 1]);
    memmove(kept + 1, kept, (SELECTION_PARTS - 1) * sizeof(struct rows_part *));
    kept[0] = part;
    return part;
}

bool selection_is_sorted(const struct selection *selection)
{
    return selection->set.sorted;
}

bool selection_rows(struct selection *selection, const struct session_row_order *order,
                    uint64_t first, size_t capacity, uint64_t *ids, size_t *count,
                    struct session_error *error)
{
    const struct row_set set = ordered_set(selection, order);
    const uint64_t total = selection_count(selection);
    *count = 0;
    if (first >= total)
        return true;
    if (total - first < capacity)
        capacity = (size_t)(total - first);
    while (*count < capacity) {
        const uint64_t place = first + *count;
        if (is_by_id(&set)) {
            ids[(*count)++] = nth_by_id(selection, &set, place) + 1;
            continue;
        }
        const struct rows_part *part =
            find_part(selection, order, &set, place / PART * PART, error);
        if (!part)
            return false;
        if (part->count <= place - part->first)
            return session_fail(error, 0, "%s: the list ends before its last row",
                                session_path(selection->session));
        ids[(*count)++] = part->rows[place - part->first] + 1;
    }
    return true;
}

bool selection_place(struct selection *selection, const struct session_row_order *order,
                     uint64_t id, uint64_t *place, struct session_error *error)
{
    const struct row_set set = ordered_set(selection, order);
    const uint64_t row = id - 1;
    error->message[0] = 0;
    if (!selection_contains(selection, id))
        return false;
    if (!is_by_id(&set))
        return sort_window_place(selection->session, &set, &selection->colors, row, place, error);
    const uint64_t before = row_set_rank(&set, selection->before, row);
    *place = set.sorted && set.descending ? selection_count(selection) - 1 - before : before;
    return true;
}
