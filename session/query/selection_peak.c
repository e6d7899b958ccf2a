/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the exact peak of a selection without sorting all events. Time is cut into buckets, up to
 * 2^20. One pass sums the bytes that each bucket allocates and frees. This gives the live bytes at
 * every boundary and an upper bound for each bucket. Only buckets whose bound reaches the largest
 * value at a boundary can hold the peak: another pass collects their events, which are sorted and
 * swept. It reads only the chunks that can have such events. In one nanosecond frees come before
 * allocations, because "live at t" means alloc <= t < free.
 *
 * If the processes ran on several machines, each machine is searched separately: bytes of two
 * machines are never added. The peak is the largest one.
 */
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/filter/sort_order.h"
#include "session/query/selection_state.h"
#include "session/summary/summary.h"
#include "session/scan/kernels.h"

enum { BUCKETS_MAX = 1 << 20, EVENTS_AT_ONCE = 1 << 22, BATCH = 65536 };

/* Sums of one bucket. */
struct bucket {
    uint64_t allocated, freed, events;
};

/* What all threads read. */
struct search {
    size_t bucket_count;
    unsigned shift;         /* a bucket is 2^shift ns wide */
    struct bucket *buckets; /* the sums of all threads */
    uint64_t *before;       /* live bytes at the start of each bucket */
    uint64_t *chosen;       /* one bit for each bucket to sweep now */
    uint32_t *places;       /* the buckets to sweep now, ascending */
    size_t place_count;
    uint32_t *left; /* the buckets that can hold the peak and are not swept yet, best bound first */
    size_t left_count;
    const uint8_t *here; /* by thread: its rows count; NULL: all do */
};

/* The values of some rows. */
struct taken {
    struct kernel_rows rows;
    uint64_t began[KERNEL_ROWS], life[KERNEL_ROWS], bytes[KERNEL_ROWS];
};

static unsigned columns_of(const struct search *search)
{
    return COLUMN_BIT(COLUMN_SIZE) | COLUMN_BIT(COLUMN_ALLOC_NS) | COLUMN_BIT(COLUMN_LIFE_NS) |
           (search->here ? COLUMN_BIT(COLUMN_THREAD) : 0u);
}

static size_t bucket_of(const struct search *search, uint64_t ns)
{
    const uint64_t bucket = ns >> search->shift;
    return bucket < search->bucket_count ? (size_t)bucket : search->bucket_count - 1;
}

/* Takes the values of a block's rows, without those of other machines. */
static void take(const struct search *search, const struct chunk_rows *rows, struct taken *taken)
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

struct summing {
    const struct search *search;
    struct bucket buckets[];
};

static void sum_rows(void *context, const struct chunk_rows *rows)
{
    struct summing *summing = context;
    const struct search *search = summing->search;
    struct taken taken;
    KERNEL_EACH_BLOCK(rows->words, &taken.rows)
    {
        take(search, rows, &taken);
        for (size_t i = 0; i < taken.rows.count; i++) {
            struct bucket *bucket = &summing->buckets[bucket_of(search, taken.began[i])];
            bucket->allocated += taken.bytes[i];
            bucket->events++;
            if (taken.life[i] == 0)
                continue;
            bucket = &summing->buckets[bucket_of(search, taken.began[i] + taken.life[i] - 1)];
            bucket->freed += taken.bytes[i];
            bucket->events++;
        }
    }
}

static bool sum_buckets(struct search *search, const struct selection *selection,
                        struct session_error *error)
{
    const size_t size = search->bucket_count * sizeof(*search->buckets);
    struct scan_contexts contexts;
    if (!scan_contexts_open(selection->session, &contexts, sizeof(struct summing) + size,
                            (size_t)64 << 20, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++)
        ((struct summing *)contexts.each[i])->search = search;
    const bool good = scan_each_chunk(selection->session, &selection->set, columns_of(search),
                                      sum_rows, contexts.each, contexts.threads, error);
    memset(search->buckets, 0, size);
    for (size_t i = 0; good && i < contexts.threads; i++) {
        const struct summing *summing = contexts.each[i];
        for (size_t k = 0; k < search->bucket_count; k++) {
            search->buckets[k].allocated += summing->buckets[k].allocated;
            search->buckets[k].freed += summing->buckets[k].freed;
            search->buckets[k].events += summing->buckets[k].events;
        }
    }
    scan_contexts_close(&contexts);
    return good;
}

/* ---- the buckets that can hold the peak ---- */

static uint64_t bound_of(const struct search *search, size_t bucket)
{
    return search->before[bucket] + search->buckets[bucket].allocated;
}

static int compare_bounds(const void *left, const void *right, void *context)
{
    const struct search *search = context;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const uint64_t of_a = bound_of(search, a), of_b = bound_of(search, b);
    return of_a != of_b ? (of_a < of_b ? 1 : -1) : a < b ? -1 : a > b;
}

/* Finds the live bytes at each boundary, and the buckets whose bound reaches the largest. */
static void find_candidates(struct search *search)
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

/* Chooses the buckets with the highest bounds that can hold more than `least`, as many as fit.
 * Returns false if there are none. */
static bool choose_buckets(struct search *search, uint64_t least)
{
    uint64_t events = 0;
    size_t taken = 0;
    search->place_count = 0;
    memset(search->chosen, 0, (search->bucket_count + 63) / 64 * sizeof(*search->chosen));
    while (taken < search->left_count && taken < BATCH) {
        const uint32_t bucket = search->left[taken];
        if (bound_of(search, bucket) < least) {
            search->left_count = taken;
            break;
        }
        if (taken > 0 && events + search->buckets[bucket].events > EVENTS_AT_ONCE)
            break;
        events += search->buckets[bucket].events;
        search->chosen[bucket / 64] |= UINT64_C(1) << (bucket % 64);
        search->places[search->place_count++] = bucket;
        taken++;
    }
    qsort(search->places, search->place_count, sizeof(*search->places), compare_places);
    memmove(search->left, search->left + taken,
            (search->left_count - taken) * sizeof(*search->left));
    search->left_count -= taken;
    return taken > 0;
}

/* ---- the second pass: events of the chosen buckets ---- */

/* The events that one thread has found. */
struct events {
    const struct search *search;
    struct sort_entry *entries;
    size_t count, capacity;
    bool failed; /* memory is exhausted */
};

/* Tells whether a bucket to sweep has times in [first, last]. */
static bool any_chosen(const struct search *search, uint64_t first, uint64_t last)
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
    const struct search *search = ((const struct events *)context)->search;
    return any_chosen(search, column_store_min(store, chunk, COLUMN_ALLOC_NS),
                      column_store_max(store, chunk, COLUMN_ALLOC_NS)) ||
           any_chosen(search, column_store_first_free(store, chunk),
                      column_store_last_free(store, chunk));
}

static bool is_chosen(const struct search *search, uint64_t ns)
{
    const size_t bucket = bucket_of(search, ns);
    return (search->chosen[bucket / 64] >> (bucket % 64) & 1) != 0;
}

/* Makes room for the events of one block. */
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
    const struct search *search = events->search;
    struct taken taken;
    KERNEL_EACH_BLOCK(rows->words, &taken.rows)
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
        const struct events *events = contexts->each[i];
        if (events->count > 0)
            memcpy(all->entries + next, events->entries, events->count * sizeof(*all->entries));
        next += events->count;
    }
    return sort_entries_of(session, all->entries, all->count, error);
}

static void sweep(const struct search *search, const struct events *events,
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

static bool sweep_chosen(struct search *search, struct selection *selection,
                         struct session_error *error)
{
    struct scan_contexts contexts;
    struct events all = {.search = search};
    if (!scan_contexts_open(selection->session, &contexts, sizeof(struct events), SIZE_MAX, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++)
        ((struct events *)contexts.each[i])->search = search;
    const bool good =
        scan_wanted_chunks(selection->session, &selection->set, columns_of(search), has_events,
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

static bool search_open(struct search *search, const struct selection *selection)
{
    *search = (struct search){.bucket_count = 16};
    while (search->bucket_count < BUCKETS_MAX &&
           search->bucket_count < selection_count(selection) / 64)
        search->bucket_count *= 2;
    while (selection->session->duration_ns >> search->shift >= search->bucket_count)
        search->shift++;
    search->buckets = calloc(search->bucket_count, sizeof(*search->buckets));
    search->before = calloc(search->bucket_count, sizeof(*search->before));
    search->chosen = calloc(search->bucket_count / 64 + 1, sizeof(*search->chosen));
    search->left = calloc(search->bucket_count, sizeof(*search->left));
    search->places = calloc(BATCH, sizeof(*search->places));
    return search->buckets && search->before && search->chosen && search->left && search->places;
}

static void search_close(struct search *search)
{
    free(search->buckets);
    free(search->before);
    free(search->chosen);
    free(search->left);
    free(search->places);
}

static bool search_machine(struct search *search, struct selection *selection,
                           struct session_error *error)
{
    if (!sum_buckets(search, selection, error))
        return false;
    find_candidates(search);
    while (choose_buckets(search, selection->peak_bytes)) {
        if (!sweep_chosen(search, selection, error))
            return false;
    }
    return true;
}

/* Searches each of several machines, where only the rows of its own threads count. */
static bool search_machines(struct search *search, struct selection *selection,
                            struct session_error *error)
{
    const struct names *names = &selection->session->names;
    if (names->machines <= 1)
        return search_machine(search, selection, error);
    uint8_t *here = malloc(names->thread.count);
    bool good = here || session_fail_memory(error, "the peak");
    search->here = here;
    for (uint32_t machine = 1; good && machine <= names->machines; machine++) {
        for (uint32_t thread = 0; thread < names->thread.count; thread++)
            here[thread] = names->process_machine[names->thread_process[thread]] == machine;
        good = search_machine(search, selection, error);
    }
    free(here);
    return good;
}

bool selection_find_peak(struct selection *selection, struct session_error *error)
{
    struct search search;
    if (selection->peak_known)
        return true;
    selection->peak_bytes = selection->peak_ns = 0;
    if (selection->everything && summary_answers(selection->session)) {
        selection->peak_bytes = selection->session->peak_bytes;
        selection->peak_ns = selection->session->peak_ns;
        return selection->peak_known = true;
    }
    bool good = search_open(&search, selection) || session_fail_memory(error, "the peak");
    good = good && search_machines(&search, selection, error);
    search_close(&search);
    selection->peak_known = good;
    return good;
}

/* Finds the peak at the first call of a getter. The cast is safe: no selection is const. */
static struct selection *with_peak(const struct selection *selection)
{
    struct selection *found = (struct selection *)(uintptr_t)selection;
    return selection_find_peak(found, NULL) ? found : NULL;
}

uint64_t selection_peak_bytes(const struct selection *selection)
{
    const struct selection *found = with_peak(selection);
    return !found ? 0 : found->peak_bytes;
}

uint64_t selection_peak_ns(const struct selection *selection)
{
    const struct selection *found = with_peak(selection);
    return !found ? 0 : found->peak_ns;
}
