/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/table/peaks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "schemas/array.h"
#include "session/filter/sort_order.h"
#include "session/store/error.h"
#include "session/store/kernels.h"
#include "session/table/group_state.h"

enum { BUCKETS_MAX = 1 << 20, BUCKETS_LEAST = 1 << 9, ROWS_A_BUCKET = 64 };
/* The most spans of time that the rows of a chunk are compared with. */
enum { SPANS_MOST = 16, SPANS_KEPT = 4096 };
enum { EVENTS_PER_LOOK = 1 << 16 };

/* The bytes of the sums of all threads, roughly: parts of time without events have a bucket, too.
 */
#define SUMS_MOST ((size_t)64 << 20)
#define CELLS_MOST (SUMS_MOST / 2)

#define NEVER UINT64_MAX

size_t peak_events = (size_t)3 << 19;

/* The facts that a sweep knows about a place. */
struct swept {
    uint64_t live, best, ns; /* ns: the first moment that had `best`; NEVER: none yet */
    uint32_t bucket;         /* where the sweep is, and 1; 0: it has not met the place */
};

/* A chosen part of time, both ends inside. */
typedef struct kernel_range span;

/* The sums of one place in one bucket. */
struct cell {
    uint64_t allocated, freed;
};

/* The part of a search that all threads share. */
struct search {
    struct session *session;
    const struct row_set *rows;
    const struct session_group_set *set; /* NULL: all rows are one group */
    uint8_t *left_groups;                /* by group: it is wanted; NULL: all are */
    bool moments;                        /* peak.ns is asked for */
    bool only_events;                    /* now only their times matter, not places and bytes */
    uint32_t machines;
    size_t places;       /* groups times machines */
    unsigned place_bits; /* of their numbers */
    struct peak *peaks;  /* by place */
    const struct time_buckets *time;
    const struct peak_sum *sums; /* by bucket, of all places */
    const struct cell *cells;    /* bucket * places + place; NULL: one place, or too many */
    /* Rounds. */
    uint64_t *before;        /* by cell: live bytes at the start of the bucket */
    uint64_t *chosen;        /* by cell, one bit: its events are swept now */
    uint32_t *chosen_before; /* by bucket: buckets before it that have chosen cells; one more */
    uint32_t *left; /* cells that can hold a peak and are not swept yet: best bound first, after the
                     * first round by time */
    size_t left_count;
    span *spans; /* times of chosen buckets, ascending */
    size_t span_count;
    /* Windows, joined so far up to `turn`. */
    span *windows;
    size_t window_count, window_capacity;
    pthread_mutex_t lock;
    pthread_cond_t joined;
    uint32_t turn;
    bool failed;
    _Atomic size_t collected; /* events of cells, until they are more than may be swept at once */
    uint64_t *live;           /* by place */
};

/* One thread's events, and what it finds in them. */
struct sweeper {
    struct search *search;
    const span *window; /* NULL: the events of chosen cells are wanted */
    /* key: ns times 2, plus 1 for an allocation; row: bytes or, with LARGE_BIT, their position in
     * `large`, above the bits of the place */
    struct sort_entry *events;
    size_t count, capacity;
    uint64_t *large;
    size_t large_count, large_capacity;
    bool failed; /* memory is exhausted */
    struct swept *swept;
    uint32_t *touched; /* places that have been met */
    size_t touched_count;
};

/* The values of some rows. */
struct peak_rows {
    struct kernel_rows rows;
    uint32_t place[KERNEL_ROWS];
    uint64_t began[KERNEL_ROWS], life[KERNEL_ROWS], bytes[KERNEL_ROWS];
    uint64_t ended[KERNEL_ROWS];                           /* of rows whose life is not 0 */
    uint32_t began_in[KERNEL_ROWS], ended_in[KERNEL_ROWS]; /* buckets */
};

/* ---- rows ---- */

static unsigned columns_of(const struct search *search)
{
    unsigned columns = COLUMN_BIT(COLUMN_ALLOC_NS) | COLUMN_BIT(COLUMN_LIFE_NS);
    if (search->only_events)
        return columns;
    columns |= COLUMN_BIT(COLUMN_SIZE);
    if (search->set)
        columns |= group_keys_columns(&search->set->keys);
    return columns | (search->machines > 1 ? COLUMN_BIT(COLUMN_THREAD) : 0u);
}

/* Finds the places of a batch's rows, and drops the rows that are not wanted. */
static void find_places(const struct search *search, const struct chunk_rows *rows,
                        struct peak_rows *taken)
{
    struct group_key_views keys;
    const size_t count = taken->rows.count;
    if (search->only_events || !search->set) {
        memset(taken->place, 0, count * sizeof(*taken->place));
    } else {
        group_keys_take(&search->set->keys, rows, &keys);
        group_of_batch(search->set, &keys, &taken->rows, taken->place);
    }
    group_keep_left(search->left_groups, &taken->rows, taken->place);
    if (search->machines > 1 && !search->only_events) {
        uint64_t thread[KERNEL_ROWS];
        kernel_take(&rows->views[COLUMN_THREAD], &taken->rows, thread);
        for (size_t i = 0; i < taken->rows.count; i++)
            taken->place[i] = taken->place[i] * search->machines +
                              group_machine_of(search->session, thread[i]) - 1;
    }
}

static void take(const struct search *search, const struct chunk_rows *rows,
                 struct peak_rows *taken)
{
    find_places(search, rows, taken);
    kernel_take(&rows->views[COLUMN_ALLOC_NS], &taken->rows, taken->began);
    kernel_take(&rows->views[COLUMN_LIFE_NS], &taken->rows, taken->life);
    if (!search->only_events)
        kernel_take(&rows->bytes, &taken->rows, taken->bytes);
    else
        memset(taken->bytes, 0, taken->rows.count * sizeof(*taken->bytes));
    for (size_t i = 0; i < taken->rows.count; i++)
        taken->ended[i] = taken->began[i] + taken->life[i] - 1;
}

static void find_buckets(const struct search *search, struct peak_rows *rows)
{
    const struct time_buckets time = *search->time;
    const size_t count = rows->rows.count;
    for (size_t i = 0; i < count; i++)
        rows->began_in[i] = time_buckets_find(&time, rows->began[i]).bucket;
    for (size_t i = 0; i < count; i++)
        rows->ended_in[i] = time_buckets_find(&time, rows->ended[i]).bucket;
}

static inline size_t bucket_of(const struct search *search, uint64_t ns)
{
    return time_buckets_find(search->time, ns).bucket;
}

/* ---- the sums of buckets ---- */

/* A thread's context. */
struct summing {
    const struct search *search;
    struct cell *cells; /* behind the sums, or NULL */
    struct peak_sum sums[];
};

/* Sums lie anywhere: those of some rows are fetched before the first is needed. */
enum { SUMS_AT_ONCE = 128 };

static void add_begins(struct summing *summing, const struct peak_rows *rows)
{
    const size_t places = summing->search->places;
    struct peak_sum *const sums = summing->sums;
    struct cell *const cells = summing->cells;
    for (size_t from = 0, to; from < rows->rows.count; from = to) {
        to = from + SUMS_AT_ONCE < rows->rows.count ? from + SUMS_AT_ONCE : rows->rows.count;
        for (size_t i = from; i < to; i++)
            __builtin_prefetch(&sums[rows->began_in[i]], 1);
        for (size_t i = from; cells && i < to; i++)
            __builtin_prefetch(&cells[rows->began_in[i] * places + rows->place[i]], 1);
        for (size_t i = from; i < to; i++) {
            sums[rows->began_in[i]].allocated += rows->bytes[i];
            sums[rows->began_in[i]].allocations++;
        }
        for (size_t i = from; cells && i < to; i++)
            cells[rows->began_in[i] * places + rows->place[i]].allocated += rows->bytes[i];
    }
}

/* Rows lie in the order of their frees: many in turn belong to one bucket. */
static void add_frees(struct summing *summing, const struct peak_rows *rows)
{
    const size_t places = summing->search->places;
    struct peak_sum *const sums = summing->sums;
    uint64_t bytes = 0, frees = 0;
    size_t last = 0;
    for (size_t i = 0; i < rows->rows.count; i++) {
        if (rows->life[i] == 0)
            continue;
        if (rows->ended_in[i] != last) {
            sums[last].freed += bytes;
            sums[last].frees += frees;
            bytes = frees = 0;
            last = rows->ended_in[i];
        }
        bytes += rows->bytes[i];
        frees++;
        if (summing->cells)
            summing->cells[last * places + rows->place[i]].freed += rows->bytes[i];
    }
    sums[last].freed += bytes;
    sums[last].frees += frees;
}

static void sum_rows(void *context, const struct chunk_rows *rows)
{
    struct summing *summing = context;
    struct peak_rows taken;
    KERNEL_EACH_BATCH(rows->words, &taken.rows)
    {
        take(summing->search, rows, &taken);
        find_buckets(summing->search, &taken);
        add_begins(summing, &taken);
        add_frees(summing, &taken);
    }
}

void peak_sums_merge(struct peak_sum *sums, const struct peak_sum *other, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sums[i].allocated += other[i].allocated;
        sums[i].freed += other[i].freed;
        sums[i].allocations += other[i].allocations;
        sums[i].frees += other[i].frees;
    }
}

/* ---- the cells that can hold a peak ---- */

static struct cell cell_sums(const struct search *search, size_t cell)
{
    return search->cells ? search->cells[cell]
                         : (struct cell){search->sums[cell].allocated, search->sums[cell].freed};
}

static uint64_t bound_of(const struct search *search, size_t cell)
{
    return search->before[cell] + cell_sums(search, cell).allocated;
}

/* Returns true if a cell can raise the peak of its place, or reach it earlier if that matters. A
 * place without bytes has its peak where it has its first block. */
static bool can_hold(const struct search *search, size_t cell)
{
    const struct peak *peak = &search->peaks[cell % search->places];
    const uint64_t allocated = cell_sums(search, cell).allocated;
    const uint64_t bound = search->before[cell] + allocated;
    const size_t bucket = cell / search->places;
    return (allocated > 0 || (peak->bytes == 0 && search->sums[bucket].allocations > 0)) &&
           (bound > peak->bytes ||
            (search->moments && bound == peak->bytes && bucket <= bucket_of(search, peak->ns)));
}

static int compare_bounds(const void *left, const void *right, void *context)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const uint64_t of_a = bound_of(context, a), of_b = bound_of(context, b);
    return of_a != of_b ? (of_a < of_b ? 1 : -1) : a < b ? -1 : a > b;
}

/* Finds the live bytes at each border, and the cells whose bound reaches the largest. */
static void find_candidates(struct search *search)
{
    const size_t places = search->places, cells = search->time->count * places;
    for (size_t place = 0; place < places; place++) {
        uint64_t live = 0, best = 0;
        for (size_t cell = place; cell < cells; cell += places) {
            const struct cell sums = cell_sums(search, cell);
            search->before[cell] = live;
            live += sums.allocated - sums.freed;
            best = live > best ? live : best;
        }
        search->peaks[place].bytes = best;
    }
    search->left_count = 0;
    for (size_t cell = 0; cell < cells; cell++)
        if (can_hold(search, cell))
            search->left[search->left_count++] = (uint32_t)cell;
}

/* Finds the spans of time that hold chosen cells. The last one takes those that do not fit. */
static void find_spans(struct search *search)
{
    const struct time_buckets *time = search->time;
    const uint32_t *before = search->chosen_before;
    const size_t parts = time->parts.count << time->cell_bits;
    search->span_count = 0;
    for (size_t part = 0; part <= parts; part++) {
        const bool after = part == parts; /* the bucket after the span of time */
        const size_t end = after ? time->count : time->cell[part + 1].first;
        if (before[end] == before[time->cell[part].first])
            continue;
        const uint64_t from = time_buckets_cell_ns(time, part);
        const uint64_t last = after ? UINT64_MAX : time_buckets_cell_ns(time, part + 1) - 1;
        span *next = search->spans + search->span_count;
        if (search->span_count > 0 &&
            (next[-1].high + 1 == from || search->span_count == SPANS_KEPT)) {
            next[-1].high = last;
        } else {
            *next = (span){from, last, false};
            search->span_count++;
        }
    }
}

/* Chooses the first cells of those that are left and can still hold a peak: of one place as many as
 * fit, of several all. Returns false if there are none. */
static bool choose_cells(struct search *search)
{
    const size_t cells = search->time->count * search->places;
    uint64_t events = 0;
    size_t taken = 0, kept = 0;
    for (size_t i = 0; i < search->left_count; i++) {
        search->left[kept] = search->left[i];
        kept += can_hold(search, search->left[i]);
    }
    memset(search->chosen, 0, (cells / 64 + 1) * sizeof(*search->chosen));
    memset(search->chosen_before, 0, (search->time->count + 1) * sizeof(*search->chosen_before));
    while (taken < kept) {
        const uint32_t cell = search->left[taken];
        if (!search->cells) {
            events += search->sums[cell].allocations + search->sums[cell].frees;
            if (taken > 0 && events > peak_events)
                break;
        }
        search->chosen[cell / 64] |= UINT64_C(1) << (cell % 64);
        search->chosen_before[cell / search->places + 1] = 1;
        taken++;
    }
    for (size_t i = 0; i < search->time->count; i++)
        search->chosen_before[i + 1] += search->chosen_before[i];
    find_spans(search);
    search->left_count = kept - taken;
    memmove(search->left, search->left + taken, search->left_count * sizeof(*search->left));
    return taken > 0;
}

/* ---- collecting events ---- */

static bool is_full(const struct search *search)
{
    return search->collected > peak_events;
}

/* Returns true if events in [first, last] are to be collected. */
static bool meets(const struct sweeper *sweeper, uint64_t first, uint64_t last)
{
    const struct search *search = sweeper->search;
    if (is_full(search))
        return false;
    if (sweeper->window)
        return first <= sweeper->window->high && last >= sweeper->window->low;
    return search->chosen_before[bucket_of(search, last) + 1] >
           search->chosen_before[bucket_of(search, first)];
}

static bool meets_frees(const struct sweeper *sweeper, const struct column_store *store,
                        uint32_t chunk)
{
    return meets(sweeper, column_store_first_free(store, chunk),
                 column_store_last_free(store, chunk));
}

static bool has_events(const void *context, const struct column_store *store, uint32_t chunk)
{
    return meets(context, column_store_min(store, chunk, COLUMN_ALLOC_NS),
                 column_store_max(store, chunk, COLUMN_ALLOC_NS)) ||
           meets_frees(context, store, chunk);
}

static bool pick_window(const void *context, const struct column_store *store,
                        const struct chunk_rows *rows, uint64_t picked[ROW_SET_WORDS])
{
    const struct sweeper *sweeper = context;
    uint64_t freed[ROW_SET_WORDS];
    kernel_in_range(&rows->views[COLUMN_ALLOC_NS], sweeper->window, picked);
    if (meets_frees(sweeper, store, rows->chunk)) {
        kernel_freed_in_range(&rows->views[COLUMN_ALLOC_NS], &rows->views[COLUMN_LIFE_NS],
                              sweeper->window, freed);
        for (size_t i = 0; i < ROW_SET_WORDS; i++)
            picked[i] |= freed[i];
    }
    return row_set_keep(picked, rows->words);
}

/* Picks the rows that began in the spans, roughly if there are many. In a chunk with frees to sweep
 * it picks all, because these need the lifetimes, too. */
static bool pick_spans(const void *context, const struct column_store *store,
                       const struct chunk_rows *rows, uint64_t picked[ROW_SET_WORDS])
{
    const struct search *search = ((const struct sweeper *)context)->search;
    const struct column_view *began = &rows->views[COLUMN_ALLOC_NS];
    uint64_t more[ROW_SET_WORDS];
    memcpy(picked, rows->words, sizeof(more));
    if (meets_frees(context, store, rows->chunk))
        return true;
    size_t first = 0, end = search->span_count;
    while (first < end && search->spans[first].high < began->min)
        first++;
    while (end > first && search->spans[end - 1].low > began->max)
        end--;
    if (first == end)
        return false;
    const bool many = end - first > SPANS_MOST;
    const span hull = {search->spans[first].low, search->spans[end - 1].high, false};
    kernel_in_range(began, many ? &hull : &search->spans[first], picked);
    for (size_t i = first + 1; !many && i < end; i++) {
        kernel_in_range(began, &search->spans[i], more);
        for (size_t word = 0; word < ROW_SET_WORDS; word++)
            picked[word] |= more[word];
    }
    return row_set_keep(picked, rows->words);
}

static const struct scan_picking window_picking = {
    COLUMN_BIT(COLUMN_ALLOC_NS) | COLUMN_BIT(COLUMN_LIFE_NS), has_events, pick_window};
static const struct scan_picking span_picking = {COLUMN_BIT(COLUMN_ALLOC_NS), has_events,
                                                 pick_spans};

#define LARGE_BIT(search) (UINT64_C(1) << (63 - (search)->place_bits))

/* Adds the bytes of an event that do not fit beside its place. Returns their position. */
static uint64_t add_large(struct sweeper *sweeper, uint64_t bytes)
{
    if (!ARRAY_GROW(sweeper->large, sweeper->large_count, sweeper->large_capacity)) {
        sweeper->failed = true;
        return 0;
    }
    sweeper->large[sweeper->large_count] = bytes;
    return LARGE_BIT(sweeper->search) | sweeper->large_count++;
}

/* Adds an event. There is room for it. */
static inline void add_event(struct sweeper *sweeper, uint64_t key, uint32_t place, uint64_t bytes)
{
    const uint64_t kept = bytes < LARGE_BIT(sweeper->search) ? bytes : add_large(sweeper, bytes);
    sweeper->events[sweeper->count++] =
        (struct sort_entry){key, kept << sweeper->search->place_bits | place};
}

/* Adds the events of a batch that are in the window. */
static void collect_window(struct sweeper *sweeper, const struct peak_rows *rows)
{
    const uint64_t low = sweeper->window->low, length = sweeper->window->high - low;
    for (size_t i = 0; i < rows->rows.count; i++) {
        if (rows->began[i] - low <= length)
            add_event(sweeper, rows->began[i] << 1 | 1, rows->place[i], rows->bytes[i]);
        if (rows->life[i] != 0 && rows->ended[i] - low <= length)
            add_event(sweeper, rows->ended[i] << 1, rows->place[i], rows->bytes[i]);
    }
}

static inline bool is_chosen(const struct search *search, size_t bucket, uint32_t place)
{
    const size_t cell = bucket * search->places + place;
    return search->chosen_before[bucket + 1] > search->chosen_before[bucket] &&
           (search->chosen[cell / 64] >> (cell % 64) & 1) != 0;
}

/* Adds the events of a batch that are in chosen cells. */
static void collect_chosen(struct sweeper *sweeper, struct peak_rows *rows)
{
    const struct search *search = sweeper->search;
    find_buckets(search, rows);
    for (size_t i = 0; i < rows->rows.count; i++) {
        if (is_chosen(search, rows->began_in[i], rows->place[i]))
            add_event(sweeper, rows->began[i] << 1 | 1, rows->place[i], rows->bytes[i]);
        if (rows->life[i] != 0 && is_chosen(search, rows->ended_in[i], rows->place[i]))
            add_event(sweeper, rows->ended[i] << 1, rows->place[i], rows->bytes[i]);
    }
}

static void collect_rows(void *context, const struct chunk_rows *rows)
{
    struct sweeper *sweeper = context;
    struct search *search = sweeper->search;
    struct peak_rows taken;
    KERNEL_EACH_BATCH(rows->words, &taken.rows)
    {
        const size_t before = sweeper->count;
        if (!array_grow(&sweeper->events, &sweeper->capacity, before + (size_t)2 * KERNEL_ROWS,
                        sizeof(*sweeper->events))) {
            sweeper->failed = true;
            return;
        }
        take(search, rows, &taken);
        if (sweeper->window)
            collect_window(sweeper, &taken);
        else
            collect_chosen(sweeper, &taken);
        if (search->cells)
            search->collected += sweeper->count - before;
        if (is_full(search))
            return;
    }
}

/* ---- sweeping them ---- */

/* Live bytes begin here, so that less is not below 0: a window does not know what was live before
 * it, and a block that is freed in the nanosecond of its allocation is freed first. */
#define WINDOW_START (UINT64_C(1) << 63)

/* Sorts the events and sweeps them. The first moment that has the largest sum of a place stays: the
 * last allocation in a nanosecond gives its largest sum. */
static bool sweep(struct sweeper *sweeper, struct session_error *error)
{
    const struct search *search = sweeper->search;
    const uint64_t places = (UINT64_C(1) << search->place_bits) - 1, large = LARGE_BIT(search);
    if (!sort_entries_of(search->session, sweeper->events, sweeper->count, error))
        return false;
    for (size_t i = 0; i < sweeper->count; i++) {
        const struct sort_entry *event = &sweeper->events[i];
        if (i % EVENTS_PER_LOOK == 0 && !scan_go_on(search->session, error))
            return false;
        /* Many places do not fit into the cache: fetch one ahead of its turn. */
        if (i + 16 < sweeper->count)
            __builtin_prefetch(&sweeper->swept[event[16].row & places], 1);
        const uint32_t place = (uint32_t)(event->row & places);
        const uint64_t kept = event->row >> search->place_bits, ns = event->key >> 1;
        const uint64_t bytes = kept < large ? kept : sweeper->large[kept - large];
        const size_t bucket = sweeper->window ? 0 : bucket_of(search, ns);
        struct swept *swept = &sweeper->swept[place];
        if (swept->bucket != bucket + 1) {
            if (swept->bucket == 0) {
                sweeper->touched[sweeper->touched_count++] = place;
                swept->ns = NEVER;
            }
            swept->bucket = (uint32_t)bucket + 1;
            swept->live = WINDOW_START +
                          (sweeper->window ? 0 : search->before[bucket * search->places + place]);
        }
        if ((event->key & 1) == 0) {
            swept->live -= bytes;
            continue;
        }
        swept->live += bytes;
        if (swept->ns == NEVER || swept->live > swept->best) {
            swept->best = swept->live;
            swept->ns = ns;
        }
    }
    return true;
}

/* Takes what a sweep has found. Returns false if it was cancelled. */
static bool take_swept(struct sweeper *sweeper)
{
    struct search *search = sweeper->search;
    for (size_t i = 0; i < sweeper->touched_count; i++) {
        const uint32_t place = sweeper->touched[i];
        struct swept *swept = &sweeper->swept[place];
        struct peak *peak = &search->peaks[place];
        if (i % EVENTS_PER_LOOK == 0 && scan_cancelled(search->session))
            return false;
        swept->best += (sweeper->window ? search->live[place] : 0) - WINDOW_START;
        if (swept->ns != NEVER && (int64_t)swept->best >= 0 &&
            (swept->best > peak->bytes || (swept->best == peak->bytes && swept->ns < peak->ns))) {
            peak->bytes = swept->best;
            peak->ns = swept->ns;
        }
        if (sweeper->window)
            search->live[place] += swept->live - WINDOW_START;
        swept->bucket = 0;
    }
    sweeper->touched_count = 0;
    return true;
}

/* Makes the memory of a sweep of about so many events. */
static bool sweeper_fill(struct sweeper *sweeper, struct search *search, size_t events,
                         struct session_error *error)
{
    sweeper->search = search;
    sweeper->swept = calloc(search->places, sizeof(*sweeper->swept));
    sweeper->touched = malloc(search->places * sizeof(*sweeper->touched));
    return (sweeper->swept && sweeper->touched &&
            array_grow(&sweeper->events, &sweeper->capacity, events, sizeof(*sweeper->events))) ||
           session_fail_memory(error, "the peak");
}

static void sweepers_close(struct scan_contexts *contexts)
{
    for (size_t i = 0; i < contexts->threads; i++) {
        struct sweeper *sweeper = contexts->each[i];
        FREE_ALL(sweeper->events, sweeper->large, sweeper->swept, sweeper->touched);
    }
    scan_contexts_close(contexts);
}

/* ---- rounds ---- */

static bool gather(const struct scan_contexts *contexts, struct session_error *error)
{
    struct sweeper *first = contexts->each[0];
    const uint64_t large = LARGE_BIT(first->search);
    for (size_t i = 0; i < contexts->threads; i++) {
        struct sweeper *other = contexts->each[i];
        if (other->failed)
            return session_fail_memory(error, "the peak");
        if (i == 0 || other->count == 0)
            continue;
        if (!array_grow(&first->events, &first->capacity, first->count + other->count,
                        sizeof(*first->events)) ||
            !array_grow(&first->large, &first->large_capacity,
                        first->large_count + other->large_count, sizeof(*first->large)))
            return session_fail_memory(error, "the peak");
        for (size_t k = 0; other->large_count > 0 && k < other->count; k++)
            if (other->events[k].row >> first->search->place_bits >= large)
                other->events[k].row += (uint64_t)first->large_count << first->search->place_bits;
        if (other->large_count > 0)
            memcpy(first->large + first->large_count, other->large,
                   other->large_count * sizeof(*other->large));
        memcpy(first->events + first->count, other->events, other->count * sizeof(*other->events));
        first->large_count += other->large_count;
        first->count += other->count;
    }
    return true;
}

static bool sweep_chosen(struct search *search, struct session_error *error)
{
    struct scan_contexts contexts;
    if (!scan_contexts_open(search->session, &contexts, sizeof(struct sweeper), SIZE_MAX, error))
        return false;
    struct sweeper *first = contexts.each[0];
    for (size_t i = 0; i < contexts.threads; i++)
        ((struct sweeper *)contexts.each[i])->search = search;
    const bool good =
        sweeper_fill(first, search, 0, error) &&
        scan_picked_rows(search->session, search->rows, columns_of(search), &span_picking,
                         collect_rows, contexts.each, contexts.threads, error) &&
        (is_full(search) || (gather(&contexts, error) && sweep(first, error) &&
                             (take_swept(first) || scan_go_on(search->session, error))));
    sweepers_close(&contexts);
    return good;
}

/* Finds the peaks by the sums of cells. *done is false if too many events would be swept. */
static bool search_rounds(struct search *search, bool *done, struct session_error *error)
{
    const size_t buckets = search->time->count, cells = buckets * search->places;
    search->before = calloc(cells + 1, sizeof(*search->before));
    search->left = malloc((cells + 1) * sizeof(*search->left));
    search->chosen = malloc((cells / 64 + 1) * sizeof(*search->chosen));
    search->chosen_before = malloc((buckets + 1) * sizeof(*search->chosen_before));
    search->spans = malloc(SPANS_KEPT * sizeof(*search->spans));
    if (!search->before || !search->left || !search->chosen || !search->chosen_before ||
        !search->spans)
        return session_fail_memory(error, "the peak");
    find_candidates(search);
    if (!scan_go_on(search->session, error))
        return false;
    if (search->places == 1)
        qsort_r(search->left, search->left_count, sizeof(*search->left), compare_bounds, search);
    for (bool first = true; !is_full(search) && choose_cells(search); first = false) {
        if (!sweep_chosen(search, error))
            return false;
        /* Few chunks have the events of buckets near each other. */
        if (first)
            qsort(search->left, search->left_count, sizeof(*search->left), array_order32);
    }
    *done = !is_full(search);
    return true;
}

/* ---- windows ---- */

/* Joins the parts of time to windows that have at most so many events. */
static bool cut(struct search *search, uint64_t most, struct session_error *error)
{
    const struct time_buckets *time = search->time;
    const size_t parts = time->parts.count << time->cell_bits;
    uint64_t events = 0, from = 0;
    for (size_t part = 0; part <= parts + 1; part++) {
        uint64_t here = 0;
        const size_t first = part > parts ? time->count : time->cell[part].first;
        const size_t end = part < parts ? time->cell[part + 1].first : time->count;
        for (size_t bucket = first; bucket < end; bucket++)
            here += search->sums[bucket].allocations + search->sums[bucket].frees;
        if (events > 0 && (events + here > most || part > parts)) {
            const uint64_t next = part > parts ? 0 : time_buckets_cell_ns(time, part);
            if (!ARRAY_GROW(search->windows, search->window_count, search->window_capacity))
                return session_fail_memory(error, "the peaks of groups");
            search->windows[search->window_count++] = (span){from, next - 1, false};
            from = next;
            events = 0;
        }
        events += here;
    }
    return true;
}

/* Waits until all windows before this one are joined. Returns false if one of them never will be.
 */
static bool wait_for_turn(struct search *search, uint32_t window)
{
    while (search->turn != window && !search->failed) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 10000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        /* The thread of an earlier window may have been cancelled before it began. */
        pthread_cond_timedwait(&search->joined, &search->lock, &until);
        search->failed = search->failed || scan_cancelled(search->session);
    }
    return !search->failed;
}

/* Joins the window that has been swept. `good`: it has been, without an error. */
static bool join_in_turn(struct sweeper *sweeper, uint32_t window, bool good)
{
    struct search *search = sweeper->search;
    pthread_mutex_lock(&search->lock);
    search->failed = search->failed || !good;
    good = good && wait_for_turn(search, window) && take_swept(sweeper);
    search->failed = search->failed || !good;
    search->turn += good;
    pthread_cond_broadcast(&search->joined);
    pthread_mutex_unlock(&search->lock);
    return good;
}

static bool take_window(void *context, struct scan_worker *worker, uint32_t number,
                        struct session_error *error)
{
    struct sweeper *sweeper = context;
    const struct search *search = sweeper->search;
    bool good = true;
    sweeper->window = &search->windows[number];
    sweeper->count = sweeper->large_count = 0;
    for (uint32_t chunk = 0; good && chunk < search->rows->chunks; chunk++)
        good = scan_go_on(search->session, error) &&
               scan_chunk_rows(worker, chunk, search->rows, columns_of(search), &window_picking,
                               collect_rows, sweeper, error);
    good = good && (!sweeper->failed || session_fail_memory(error, "the peaks of groups")) &&
           sweep(sweeper, error);
    if (join_in_turn(sweeper, number, good))
        return true;
    return good ? session_fail(error, 0, "the question was cancelled") : false;
}

static bool search_windows(struct search *search, struct session_error *error)
{
    const size_t each = search->places * (sizeof(struct swept) + sizeof(uint32_t));
    struct scan_contexts contexts;
    search->cells = NULL;
    search->collected = 0;
    search->live = calloc(search->places, sizeof(*search->live));
    memset(search->peaks, 0, search->places * sizeof(*search->peaks));
    for (size_t place = 0; place < search->places; place++)
        search->peaks[place].ns = NEVER;
    if (!search->live)
        return session_fail_memory(error, "the peaks of groups");
    if (!scan_contexts_open(search->session, &contexts, sizeof(struct sweeper),
                            SUMS_MOST / each * sizeof(struct sweeper), error))
        return false;
    const size_t events = peak_events / contexts.threads;
    bool good = cut(search, events, error);
    for (size_t i = 0; good && i < contexts.threads; i++)
        good = sweeper_fill(contexts.each[i], search, events + (size_t)2 * KERNEL_ROWS, error);
    good = good && scan_chunks(search->session, (uint32_t)search->window_count, take_window,
                               contexts.each, contexts.threads, error);
    sweepers_close(&contexts);
    return good;
}

/* ---- the search ---- */

size_t peak_buckets(const struct session *session, const struct row_set *rows)
{
    const size_t most = SUMS_MOST / sizeof(struct peak_sum) / scan_threads(session);
    size_t count = 16, selected = 0;
    for (uint32_t chunk = 0; chunk < rows->chunks; chunk++)
        selected += row_set_chunk_count(rows, chunk);
    while (count < BUCKETS_MAX && count * 2 <= most && count < selected / ROWS_A_BUCKET)
        count *= 2;
    return count;
}

static bool search_sums(struct search *search, const struct time_buckets *time,
                        const struct peak_sum *sums, struct session_error *error)
{
    bool done = false;
    search->time = time;
    search->sums = sums;
    return ((search->places > 1 && !search->cells) || search_rounds(search, &done, error)) &&
           (done || search_windows(search, error));
}

/* Adds the sums of all threads to those of the first, and finds the peaks. */
static bool search_contexts(struct search *search, const struct scan_contexts *contexts,
                            struct session_error *error)
{
    struct summing *all = contexts->each[0];
    const size_t buckets = search->time->count, cells = all->cells ? buckets * search->places : 0;
    for (size_t i = 1; i < contexts->threads; i++) {
        const struct summing *other = contexts->each[i];
        peak_sums_merge(all->sums, other->sums, buckets);
        for (size_t cell = 0; cell < cells; cell++) {
            all->cells[cell].allocated += other->cells[cell].allocated;
            all->cells[cell].freed += other->cells[cell].freed;
        }
    }
    search->only_events = false;
    search->cells = all->cells;
    const bool good = search_sums(search, search->time, all->sums, error);
    search->cells = NULL;
    return good;
}

static bool search_rows(struct search *search, struct session_error *error)
{
    const bool cells = search->places > 1 && search->places <= BUCKETS_MAX / BUCKETS_LEAST;
    const size_t each = sizeof(struct peak_sum) + cells * search->places * sizeof(struct cell);
    size_t most = peak_buckets(search->session, search->rows);
    struct time_buckets time;
    struct scan_contexts contexts;
    while (most > BUCKETS_LEAST && most * each * scan_threads(search->session) > CELLS_MOST)
        most /= 2;
    if (!time_buckets_open(&time, search->session, search->rows, 0,
                           search->session->duration_ns + 1, 1, most, error))
        return false;
    bool good =
        scan_contexts_open(search->session, &contexts, sizeof(struct summing) + time.count * each,
                           3 * SUMS_MOST, error);
    if (good) {
        search->time = &time;
        search->only_events = search->places > 1 && !cells && !search->left_groups;
        for (size_t i = 0; i < contexts.threads; i++) {
            struct summing *summing = contexts.each[i];
            summing->search = search;
            summing->cells = cells ? (struct cell *)(summing->sums + time.count) : NULL;
        }
        good = scan_each_chunk(search->session, search->rows, columns_of(search), sum_rows,
                               contexts.each, contexts.threads, error) &&
               search_contexts(search, &contexts, error);
        scan_contexts_close(&contexts);
        search->time = NULL;
    }
    time_buckets_close(&time);
    return good;
}

/* A thread's context; its counts, by place, follow. */
struct counting {
    const struct search *search;
    uint64_t counts[];
};

static void count_rows(void *context, const struct chunk_rows *rows)
{
    struct counting *counting = context;
    struct peak_rows taken;
    uint64_t counts[KERNEL_ROWS];
    KERNEL_EACH_BATCH(rows->words, &taken.rows)
    {
        take(counting->search, rows, &taken);
        kernel_take(&rows->counts, &taken.rows, counts);
        for (size_t i = 0; i < taken.rows.count; i++) {
            const uint64_t ns = counting->search->peaks[taken.place[i]].ns;
            if (kernel_is_live(taken.began[i], taken.life[i], ns))
                counting->counts[taken.place[i]] += counts[i];
        }
    }
}

/* Counts the blocks that were live at the peak of each place. */
static bool count_blocks(struct search *search, struct session_error *error)
{
    const size_t size = sizeof(struct counting) + search->places * sizeof(uint64_t);
    struct scan_contexts contexts;
    if (!scan_contexts_open(search->session, &contexts, size, SUMS_MOST, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++)
        ((struct counting *)contexts.each[i])->search = search;
    const bool good = scan_each_chunk(search->session, search->rows, columns_of(search), count_rows,
                                      contexts.each, contexts.threads, error);
    for (size_t i = 0; i < contexts.threads; i++)
        for (size_t place = 0; place < search->places; place++)
            search->peaks[place].count +=
                ((const struct counting *)contexts.each[i])->counts[place];
    scan_contexts_close(&contexts);
    return good;
}

/* Makes a search's places. Returns false with `error` set; search_close() in any case. */
static bool search_open(struct search *search, size_t groups, struct session_error *error)
{
    search->machines = search->session->names.machines;
    search->places = groups * search->machines;
    while (search->places > UINT64_C(1) << search->place_bits)
        search->place_bits++;
    search->peaks = calloc(search->places + 1, sizeof(*search->peaks));
    pthread_mutex_init(&search->lock, NULL);
    pthread_cond_init(&search->joined, NULL);
    if (!search->peaks)
        return session_fail_memory(error, "the peaks of groups");
    for (size_t place = 0; place < search->places; place++)
        search->peaks[place].ns = NEVER;
    return search->places < UINT32_MAX ||
           session_fail(error, 0, "too many groups and machines for the peaks of groups");
}

static void search_close(struct search *search)
{
    pthread_cond_destroy(&search->joined);
    pthread_mutex_destroy(&search->lock);
    FREE_ALL(search->left_groups, search->peaks, search->before, search->chosen,
             search->chosen_before, search->left, search->spans, search->windows, search->live);
}

/* Returns the peak of a group: that of its largest place, the first or the earliest of equals. */
static struct peak largest(const struct search *search, size_t group, bool earliest)
{
    const struct peak *places = &search->peaks[group * search->machines];
    struct peak peak = places[0];
    for (size_t i = 1; i < search->machines; i++)
        if (places[i].bytes > peak.bytes ||
            (places[i].bytes == peak.bytes &&
             (earliest ? places[i].ns < peak.ns : peak.ns == NEVER)))
            peak = places[i];
    return peak;
}

bool peak_of_rows(struct session *session, const struct row_set *rows,
                  const struct time_buckets *time, const struct peak_sum *sums, struct peak *peak,
                  struct session_error *error)
{
    struct search search = {.session = session, .rows = rows, .moments = true};
    const bool good =
        search_open(&search, 1, error) &&
        (sums ? search_sums(&search, time, sums, error) : search_rows(&search, error));
    *peak = good ? largest(&search, 0, true) : (struct peak){.bytes = 0};
    if (peak->bytes == 0)
        peak->ns = 0;
    search_close(&search);
    return good;
}

bool group_find_peaks(struct session_group_set *set, struct session_error *error)
{
    struct search search = {
        .session = set->session, .rows = &set->rows, .set = set->made > 1 ? set : NULL};
    uint64_t *peaks = NULL;
    if (set->peaks || set->count == 0)
        return true;
    bool good =
        search_open(&search, set->made, error) && group_left(set, &search.left_groups, error);
    if (good && !(peaks = calloc(set->made + 1, sizeof(*peaks))))
        good = session_fail_memory(error, "the peaks of groups");
    good = good && search_rows(&search, error);
    for (size_t group = 0; good && group < set->made; group++)
        peaks[group] = largest(&search, group, false).bytes;
    search_close(&search);
    if (good)
        set->peaks = peaks;
    else
        free(peaks);
    return good;
}

bool group_find_own_peaks(struct session_group_set *set, struct peak **peaks,
                          struct session_error *error)
{
    struct search search = {.session = set->session,
                            .rows = &set->rows,
                            .set = set->made > 1 ? set : NULL,
                            .moments = true};
    bool good = search_open(&search, set->made, error);
    *peaks = calloc(set->made + 1, sizeof(**peaks));
    if (good && !*peaks)
        good = session_fail_memory(error, "the peaks of groups");
    good =
        good && (set->made == 0 || (search_rows(&search, error) && count_blocks(&search, error)));
    for (size_t group = 0; good && group < set->made; group++)
        (*peaks)[group] = largest(&search, group, false);
    search_close(&search);
    if (!good) {
        free(*peaks);
        *peaks = NULL;
    }
    return good;
}
