/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/query/peak_search.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/filter/sort_order.h"
#include "session/scan/kernels.h"

enum { BUCKETS_MAX = 1 << 20, BATCH = 65536 };
/* The most spans of time that the rows of a chunk are compared with. */
enum { SPANS_MOST = 16, SPANS_KEPT = 4096 };

size_t peak_search_events = (size_t)1 << 20;

/* The bytes of the sums of all threads, roughly: cells without events have a bucket, too. */
#define SUMS_MOST ((size_t)64 << 20)

/* The part of a search that all threads read. */
struct peak_search {
    const struct time_buckets *time;
    size_t bucket_count;
    const struct peak_sum *buckets; /* the sums of all threads */
    uint64_t *before;               /* live bytes at the start of each bucket */
    uint64_t *chosen;               /* one bit for each bucket to sweep now */
    uint32_t *places;               /* the buckets to sweep now, ascending */
    size_t place_count;
    uint32_t *left; /* the buckets that can hold the peak and are not swept yet: best bound first,
                     * after the first sweep by time */
    size_t left_count;
    struct kernel_range *spans; /* times of the cells that hold buckets to sweep now, ascending */
    size_t span_count;
    const uint8_t *here; /* by thread: its rows count; NULL: all do */
};

/* The values of some rows. */
struct peak_rows {
    struct kernel_rows rows;
    uint64_t began[KERNEL_ROWS], life[KERNEL_ROWS], bytes[KERNEL_ROWS];
};

static unsigned columns_of(const struct peak_search *search)
{
    return COLUMN_BIT(COLUMN_SIZE) | COLUMN_BIT(COLUMN_ALLOC_NS) | COLUMN_BIT(COLUMN_LIFE_NS) |
           (search->here ? COLUMN_BIT(COLUMN_THREAD) : 0u);
}

static inline size_t bucket_of(const struct peak_search *search, uint64_t ns)
{
    return time_buckets_find(search->time, ns).bucket;
}

/* Takes the values of a batch's rows, without those of other machines. */
static void take(const struct peak_search *search, const struct chunk_rows *rows,
                 struct peak_rows *taken)
{
    if (search->here) {
        uint64_t thread[KERNEL_ROWS];
        size_t kept = 0;
        kernel_take(&rows->views[COLUMN_THREAD], &taken->rows, thread);
        for (size_t i = 0; i < taken->rows.count; i++) {
            taken->rows.row[kept] = taken->rows.row[i];
            kept += search->here[thread[i]];
        }
        taken->rows.count = kept;
    }
    kernel_take(&rows->views[COLUMN_ALLOC_NS], &taken->rows, taken->began);
    kernel_take(&rows->views[COLUMN_LIFE_NS], &taken->rows, taken->life);
    kernel_take(&rows->bytes, &taken->rows, taken->bytes);
}

/* ---- the first pass: sums of buckets ---- */

/* Sums lie anywhere: all of a batch are fetched before the first is needed. */
static void add_begins(const struct peak_search *search, struct peak_sum *sums,
                       const struct peak_rows *rows)
{
    uint32_t bucket[KERNEL_ROWS];
    for (size_t i = 0; i < rows->rows.count; i++) {
        bucket[i] = (uint32_t)bucket_of(search, rows->began[i]);
        __builtin_prefetch(&sums[bucket[i]], 1);
    }
    for (size_t i = 0; i < rows->rows.count; i++) {
        sums[bucket[i]].allocated += rows->bytes[i];
        sums[bucket[i]].allocations++;
    }
}

/* Rows lie in the order of their frees: many in turn belong to one bucket. */
static void add_frees(const struct peak_search *search, struct peak_sum *sums,
                      const struct peak_rows *rows)
{
    uint64_t bytes = 0, frees = 0;
    size_t last = 0;
    for (size_t i = 0; i < rows->rows.count; i++) {
        if (rows->life[i] == 0)
            continue;
        const size_t bucket = bucket_of(search, rows->began[i] + rows->life[i] - 1);
        if (bucket != last) {
            sums[last].freed += bytes;
            sums[last].frees += frees;
            bytes = frees = 0;
            last = bucket;
        }
        bytes += rows->bytes[i];
        frees++;
    }
    sums[last].freed += bytes;
    sums[last].frees += frees;
}

/* A thread's context; its sums follow. */
struct summing {
    const struct peak_search *search;
    struct peak_sum sums[];
};

static void sum_rows(void *context, const struct chunk_rows *rows)
{
    struct summing *summing = context;
    struct peak_rows taken;
    KERNEL_EACH_BATCH(rows->words, &taken.rows)
    {
        take(summing->search, rows, &taken);
        add_begins(summing->search, summing->sums, &taken);
        add_frees(summing->search, summing->sums, &taken);
    }
}

/* Adds the sums of another thread. */
static void merge(struct peak_sum *sums, const struct peak_sum *other, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sums[i].allocated += other[i].allocated;
        sums[i].freed += other[i].freed;
        sums[i].allocations += other[i].allocations;
        sums[i].frees += other[i].frees;
    }
}

bool peak_search_whole(struct peak_search *search, struct selection *selection,
                       struct session_error *error)
{
    struct scan_contexts contexts;
    if (!scan_contexts_open(selection->session, &contexts,
                            sizeof(struct summing) + search->bucket_count * sizeof(struct peak_sum),
                            3 * SUMS_MOST, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++)
        ((struct summing *)contexts.each[i])->search = search;
    struct peak_sum *sums = ((struct summing *)contexts.each[0])->sums;
    bool good = scan_each_chunk(selection->session, &selection->set, columns_of(search), sum_rows,
                                contexts.each, contexts.threads, error);
    for (size_t i = 1; i < contexts.threads; i++)
        merge(sums, ((const struct summing *)contexts.each[i])->sums, search->bucket_count);
    good = good && peak_search_end(search, sums, selection, error);
    scan_contexts_close(&contexts);
    return good;
}

/* ---- the buckets that can hold the peak ---- */

static uint64_t bound_of(const struct peak_search *search, size_t bucket)
{
    return search->before[bucket] + search->buckets[bucket].allocated;
}

static int compare_bounds(const void *left, const void *right, void *context)
{
    const struct peak_search *search = context;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const uint64_t of_a = bound_of(search, a), of_b = bound_of(search, b);
    return of_a != of_b ? (of_a < of_b ? 1 : -1) : a < b ? -1 : a > b;
}

/* Finds the live bytes at each boundary, and the buckets whose bound reaches the largest. */
static void find_candidates(struct peak_search *search)
{
    uint64_t live = 0, best = 0;
    for (size_t i = 0; i < search->bucket_count; i++) {
        search->before[i] = live;
        live += search->buckets[i].allocated - search->buckets[i].freed;
        best = live > best ? live : best;
    }
    search->left_count = 0;
    for (size_t i = 0; i < search->bucket_count; i++) {
        if (search->buckets[i].allocated > 0 && bound_of(search, i) >= best)
            search->left[search->left_count++] = (uint32_t)i;
    }
    qsort_r(search->left, search->left_count, sizeof(*search->left), compare_bounds, search);
}

static int compare_places(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

static uint64_t events_of(const struct peak_search *search, size_t bucket)
{
    return search->buckets[bucket].allocations + search->buckets[bucket].frees;
}

/* Finds the spans of the cells that hold chosen buckets. The last one takes those that do not fit.
 */
static void find_spans(struct peak_search *search)
{
    const struct time_buckets *time = search->time;
    const size_t cells = time->parts << time->cell_bits;
    size_t next = 0;
    search->span_count = 0;
    for (size_t cell = 0; cell <= cells && next < search->place_count; cell++) {
        const bool after = cell == cells; /* the bucket after the span of time */
        if (!after && search->places[next] >= time->cell[cell + 1].first)
            continue;
        while (next < search->place_count &&
               (after || search->places[next] < time->cell[cell + 1].first))
            next++;
        const uint64_t from = time_buckets_cell_ns(time, cell);
        const uint64_t last = after ? UINT64_MAX : time_buckets_cell_ns(time, cell + 1) - 1;
        struct kernel_range *end = search->spans + search->span_count;
        if (search->span_count > 0 &&
            (end[-1].high + 1 == from || search->span_count == SPANS_KEPT)) {
            end[-1].high = last;
        } else {
            *end = (struct kernel_range){from, last, false};
            search->span_count++;
        }
    }
}

/* Forgets the buckets that cannot hold `least`. */
static void drop_low(struct peak_search *search, uint64_t least)
{
    size_t kept = 0;
    for (size_t i = 0; i < search->left_count; i++) {
        search->left[kept] = search->left[i];
        kept += bound_of(search, search->left[i]) >= least;
    }
    search->left_count = kept;
}

/* Chooses the first buckets of those that are left and can hold `least`, as many as fit. Returns
 * false if there are none. */
static bool choose_buckets(struct peak_search *search, uint64_t least)
{
    uint64_t events = 0;
    size_t taken = 0;
    drop_low(search, least);
    search->place_count = 0;
    memset(search->chosen, 0, (search->bucket_count + 63) / 64 * sizeof(*search->chosen));
    while (taken < search->left_count && taken < BATCH) {
        const uint32_t bucket = search->left[taken];
        events += events_of(search, bucket);
        if (taken > 0 && events > peak_search_events)
            break;
        search->chosen[bucket / 64] |= UINT64_C(1) << (bucket % 64);
        search->places[search->place_count++] = bucket;
        taken++;
    }
    qsort(search->places, search->place_count, sizeof(*search->places), compare_places);
    find_spans(search);
    memmove(search->left, search->left + taken,
            (search->left_count - taken) * sizeof(*search->left));
    search->left_count -= taken;
    return taken > 0;
}

/* ---- the second pass: events of the chosen buckets ---- */

/* The events that one thread has found. */
struct events {
    const struct peak_search *search;
    struct sort_entry *entries;
    size_t count, capacity;
    bool failed; /* memory is exhausted */
};

/* Returns true if a bucket to sweep has times in [first, last]. */
static bool any_chosen(const struct peak_search *search, uint64_t first, uint64_t last)
{
    const size_t from = bucket_of(search, first), to = bucket_of(search, last);
    size_t low = 0, high = search->place_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (search->places[middle] < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low < search->place_count && search->places[low] <= to;
}

static bool has_events(const void *context, const struct column_store *store, uint32_t chunk)
{
    const struct peak_search *search = ((const struct events *)context)->search;
    return any_chosen(search, column_store_min(store, chunk, COLUMN_ALLOC_NS),
                      column_store_max(store, chunk, COLUMN_ALLOC_NS)) ||
           any_chosen(search, column_store_first_free(store, chunk),
                      column_store_last_free(store, chunk));
}

/* Picks the rows that began in the spans, roughly if there are many. In a chunk with frees to sweep
 * it picks all, because these need the lifetimes, too. */
static bool pick_rows(const void *context, const struct column_store *store,
                      const struct chunk_rows *rows, uint64_t picked[ROW_SET_WORDS])
{
    const struct peak_search *search = ((const struct events *)context)->search;
    const struct column_view *began = &rows->views[COLUMN_ALLOC_NS];
    uint64_t more[ROW_SET_WORDS];
    memcpy(picked, rows->words, sizeof(more));
    if (any_chosen(search, column_store_first_free(store, rows->chunk),
                   column_store_last_free(store, rows->chunk)))
        return true;
    size_t first = 0, end = search->span_count;
    while (first < end && search->spans[first].high < began->min)
        first++;
    while (end > first && search->spans[end - 1].low > began->max)
        end--;
    if (first == end)
        return false;
    const bool many = end - first > SPANS_MOST;
    const struct kernel_range hull = {search->spans[first].low, search->spans[end - 1].high, false};
    kernel_in_range(began, many ? &hull : &search->spans[first], picked);
    for (size_t i = first + 1; !many && i < end; i++) {
        kernel_in_range(began, &search->spans[i], more);
        for (size_t word = 0; word < ROW_SET_WORDS; word++)
            picked[word] |= more[word];
    }
    return row_set_keep(picked, rows->words);
}

static bool is_chosen(const struct peak_search *search, uint64_t ns)
{
    const size_t bucket = bucket_of(search, ns);
    return (search->chosen[bucket / 64] >> (bucket % 64) & 1) != 0;
}

/* Makes room for the events of one batch. */
static bool events_grow(struct events *events)
{
    if (events->capacity - events->count >= (size_t)2 * KERNEL_ROWS)
        return true;
    const size_t capacity = events->capacity * 2 + (size_t)4 * KERNEL_ROWS;
    struct sort_entry *entries = realloc(events->entries, capacity * sizeof(*entries));
    if (!entries) {
        events->failed = true;
        return false;
    }
    events->entries = entries;
    events->capacity = capacity;
    return true;
}

/* The lowest bit of the key marks an allocation, so frees sort before allocations of the same time.
 */
static void collect_rows(void *context, const struct chunk_rows *rows)
{
    struct events *events = context;
    const struct peak_search *search = events->search;
    struct peak_rows taken;
    KERNEL_EACH_BATCH(rows->words, &taken.rows)
    {
        if (!events_grow(events))
            return;
        take(search, rows, &taken);
        for (size_t i = 0; i < taken.rows.count; i++) {
            const uint64_t began = taken.began[i], freed = began + taken.life[i] - 1;
            if (is_chosen(search, began))
                events->entries[events->count++] =
                    (struct sort_entry){began << 1 | 1, taken.bytes[i]};
            if (taken.life[i] != 0 && is_chosen(search, freed))
                events->entries[events->count++] = (struct sort_entry){freed << 1, taken.bytes[i]};
        }
    }
}

/* Sets `all` to the events of all threads, sorted. Returns false with `error` set. */
static bool sort_events(const struct session *session, const struct scan_contexts *contexts,
                        struct events *all, struct session_error *error)
{
    for (size_t i = 0; i < contexts->threads; i++) {
        const struct events *events = contexts->each[i];
        all->count += events->count;
        all->failed |= events->failed;
    }
    all->entries = all->failed ? NULL : malloc((all->count + 1) * sizeof(*all->entries));
    if (!all->entries)
        return session_fail_memory(error, "the peak");
    size_t next = 0;
    for (size_t i = 0; i < contexts->threads; i++) {
        struct events *events = contexts->each[i];
        if (events->count > 0)
            memcpy(all->entries + next, events->entries, events->count * sizeof(*all->entries));
        next += events->count;
        free(events->entries);
        events->entries = NULL;
    }
    return sort_entries_of(session, all->entries, all->count, error);
}

static void sweep(const struct peak_search *search, const struct events *events,
                  struct selection *selection)
{
    size_t bucket = SIZE_MAX;
    uint64_t live = 0;
    for (size_t i = 0; i < events->count; i++) {
        const uint64_t ns = events->entries[i].key >> 1;
        if (bucket_of(search, ns) != bucket) {
            bucket = bucket_of(search, ns);
            live = search->before[bucket];
        }
        if ((events->entries[i].key & 1) == 0) {
            live -= events->entries[i].row;
            continue;
        }
        live += events->entries[i].row;
        /* The last allocation in a nanosecond gives its largest sum. */
        if (live > selection->peak_bytes ||
            (live == selection->peak_bytes && ns < selection->peak_ns)) {
            selection->peak_bytes = live;
            selection->peak_ns = ns;
        }
    }
}

static bool sweep_chosen(struct peak_search *search, struct selection *selection,
                         struct session_error *error)
{
    const struct scan_picking picking = {COLUMN_BIT(COLUMN_ALLOC_NS), has_events, pick_rows};
    struct scan_contexts contexts;
    struct events all = {.search = search};
    if (!scan_contexts_open(selection->session, &contexts, sizeof(struct events), SIZE_MAX, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++)
        ((struct events *)contexts.each[i])->search = search;
    const bool good =
        scan_picked_rows(selection->session, &selection->set, columns_of(search), &picking,
                         collect_rows, contexts.each, contexts.threads, error) &&
        sort_events(selection->session, &contexts, &all, error);
    if (good)
        sweep(search, &all, selection);
    for (size_t i = 0; i < contexts.threads; i++)
        free(((struct events *)contexts.each[i])->entries);
    free(all.entries);
    scan_contexts_close(&contexts);
    return good;
}

/* ---- the search ---- */

size_t peak_search_buckets(const struct selection *selection)
{
    const size_t most = SUMS_MOST / sizeof(struct peak_sum) / scan_threads(selection->session);
    size_t count = 16;
    while (count < BUCKETS_MAX && count * 2 <= most && count < selection_count(selection) / 64)
        count *= 2;
    return count;
}

struct peak_search *peak_search_new(const uint8_t *here, const struct time_buckets *buckets,
                                    struct session_error *error)
{
    struct peak_search *search = calloc(1, sizeof(*search));
    if (!search) {
        session_fail_memory(error, "the peak");
        return NULL;
    }
    search->here = here;
    search->time = buckets;
    search->bucket_count = buckets->count;
    search->before = calloc(search->bucket_count, sizeof(*search->before));
    search->chosen = calloc(search->bucket_count / 64 + 1, sizeof(*search->chosen));
    search->left = calloc(search->bucket_count, sizeof(*search->left));
    search->places = calloc(BATCH, sizeof(*search->places));
    search->spans = calloc(SPANS_KEPT, sizeof(*search->spans));
    if (search->before && search->chosen && search->left && search->places && search->spans)
        return search;
    session_fail_memory(error, "the peak");
    peak_search_free(search);
    return NULL;
}

void peak_search_free(struct peak_search *search)
{
    if (!search)
        return;
    free(search->before);
    free(search->chosen);
    free(search->left);
    free(search->places);
    free(search->spans);
    free(search);
}

bool peak_search_end(struct peak_search *search, const struct peak_sum *sums,
                     struct selection *selection, struct session_error *error)
{
    search->buckets = sums;
    find_candidates(search);
    if (!scan_go_on(selection->session, error))
        return false;
    bool good = true;
    for (bool first = true; good && choose_buckets(search, selection->peak_bytes); first = false) {
        good = sweep_chosen(search, selection, error);
        /* Few chunks have the events of buckets near each other. */
        if (first)
            qsort(search->left, search->left_count, sizeof(*search->left), compare_places);
    }
    return good;
}
