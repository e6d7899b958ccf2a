/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the exact peak of a selection without sorting all events. Time is cut into buckets. One
 * scan sums the bytes that each bucket allocates and frees. This gives the live bytes at every
 * boundary and an upper bound for each bucket. Only buckets whose bound reaches the largest value
 * at a boundary can hold the peak: another scan collects their events, which are sorted and swept.
 * In one nanosecond frees come before allocations, because "live at t" means alloc <= t < free.
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

enum { BUCKETS_MAX = 4096, EVENTS_AT_ONCE = 1 << 22 };

struct bucket {
    uint64_t allocated, freed, events;
    uint64_t before; /* live bytes at its start */
    uint64_t order;  /* 1: sweep it now, 0: not now */
    bool done;
};

struct search {
    struct bucket *buckets;
    size_t bucket_count;
    unsigned shift; /* a bucket is 2^shift ns wide */
    struct sort_entry *events;
    size_t count;
    const struct names *names;
    uint32_t machine; /* only its rows count; 0: there is only one machine */
};

static unsigned columns_of(const struct search *search)
{
    return COLUMN_BIT(COLUMN_SIZE) | COLUMN_BIT(COLUMN_ALLOC_NS) | COLUMN_BIT(COLUMN_LIFE_NS) |
           (search->machine != 0 ? COLUMN_BIT(COLUMN_THREAD) : 0u);
}

static bool is_elsewhere(const struct search *search, const struct chunk_rows *rows, size_t row)
{
    if (search->machine == 0)
        return false;
    uint64_t thread = column_view_at(&rows->views[COLUMN_THREAD], row);
    uint32_t process = search->names->thread_process[thread];
    return search->names->process_machine[process] != search->machine;
}

static uint64_t bucket_of(const struct search *search, uint64_t ns)
{
    uint64_t bucket = ns >> search->shift;
    return bucket < search->bucket_count ? bucket : search->bucket_count - 1;
}

static void sum_buckets(void *context, const struct chunk_rows *rows)
{
    struct search *search = context;
    ROW_SET_EACH(rows->words, row)
    {
        if (is_elsewhere(search, rows, row))
            continue;
        uint64_t size = column_view_at(&rows->bytes, row);
        uint64_t began = column_view_at(&rows->views[COLUMN_ALLOC_NS], row);
        uint64_t life = column_view_at(&rows->views[COLUMN_LIFE_NS], row);
        struct bucket *bucket = &search->buckets[bucket_of(search, began)];
        bucket->allocated += size;
        bucket->events++;
        if (life != 0) {
            bucket = &search->buckets[bucket_of(search, began + life - 1)];
            bucket->freed += size;
            bucket->events++;
        }
    }
}

/* Collects an event of a bucket to sweep. The lowest bit of the key marks an allocation, so frees
 * sort before allocations of the same time. */
static void collect_event(struct search *search, uint64_t ns, uint64_t size, bool allocated)
{
    if (search->buckets[bucket_of(search, ns)].order != 0)
        search->events[search->count++] = (struct sort_entry){ns << 1 | allocated, size};
}

static void collect_events(void *context, const struct chunk_rows *rows)
{
    struct search *search = context;
    ROW_SET_EACH(rows->words, row)
    {
        if (is_elsewhere(search, rows, row))
            continue;
        uint64_t size = column_view_at(&rows->bytes, row);
        uint64_t began = column_view_at(&rows->views[COLUMN_ALLOC_NS], row);
        uint64_t life = column_view_at(&rows->views[COLUMN_LIFE_NS], row);
        collect_event(search, began, size, true);
        if (life != 0)
            collect_event(search, began + life - 1, size, false);
    }
}

/* Chooses the buckets with the highest bounds, as many as fit. Returns false if none can hold the
 * peak. */
static bool choose_buckets(struct search *search, uint64_t best)
{
    uint64_t events = 0;
    bool chosen = false;
    for (;;) {
        struct bucket *highest = NULL;
        for (size_t i = 0; i < search->bucket_count; i++) {
            struct bucket *bucket = &search->buckets[i];
            if (bucket->done || bucket->allocated == 0 || bucket->before + bucket->allocated < best)
                continue;
            if (!highest ||
                bucket->before + bucket->allocated > highest->before + highest->allocated)
                highest = bucket;
        }
        if (!highest || (chosen && events + highest->events > EVENTS_AT_ONCE))
            return chosen;
        highest->order = 1;
        highest->done = true;
        events += highest->events;
        chosen = true;
    }
}

static void sweep(const struct search *search, struct selection *selection)
{
    uint64_t bucket = UINT64_MAX;
    uint64_t live = 0;
    for (size_t i = 0; i < search->count; i++) {
        uint64_t ns = search->events[i].key >> 1;
        if (bucket_of(search, ns) != bucket) {
            bucket = bucket_of(search, ns);
            live = search->buckets[bucket].before;
        }
        if ((search->events[i].key & 1) == 0) {
            live -= search->events[i].row;
            continue;
        }
        live += search->events[i].row;
        /* The last allocation in a nanosecond gives its largest sum. */
        if (live > selection->peak_bytes ||
            (live == selection->peak_bytes && ns < selection->peak_ns)) {
            selection->peak_bytes = live;
            selection->peak_ns = ns;
        }
    }
}

static bool sweep_candidates(struct search *search, struct selection *selection, uint64_t best,
                             struct session_error *error)
{
    while (choose_buckets(search, best > selection->peak_bytes ? best : selection->peak_bytes)) {
        size_t events = 0;
        for (size_t i = 0; i < search->bucket_count; i++)
            events += search->buckets[i].order != 0 ? search->buckets[i].events : 0;
        search->events = malloc((events + 1) * sizeof(*search->events));
        search->count = 0;
        bool good = search->events || session_fail_memory(error, "the peak");
        good = good && scan_in_order(selection->session, &selection->set, columns_of(search),
                                     collect_events, search, error);
        good = good && (sort_entries(search->events, search->count) ||
                        session_fail_memory(error, "the peak"));
        if (good)
            sweep(search, selection);
        free(search->events);
        if (!good)
            return false;
        for (size_t i = 0; i < search->bucket_count; i++)
            search->buckets[i].order = 0;
    }
    return true;
}

static bool search_machine(struct search *search, struct selection *selection,
                           struct session_error *error)
{
    uint64_t live = 0;
    uint64_t best = 0;
    memset(search->buckets, 0, search->bucket_count * sizeof(*search->buckets));
    if (!scan_in_order(selection->session, &selection->set, columns_of(search), sum_buckets, search,
                       error))
        return false;
    for (size_t i = 0; i < search->bucket_count; i++) {
        search->buckets[i].before = live;
        live += search->buckets[i].allocated - search->buckets[i].freed;
        best = live > best ? live : best;
    }
    return sweep_candidates(search, selection, best, error);
}

bool selection_find_peak(struct selection *selection, struct session_error *error)
{
    if (selection->peak_known)
        return true;
    const struct names *names = &selection->session->names;
    struct search search = {.bucket_count = 16, .names = names};
    while (search.bucket_count < BUCKETS_MAX &&
           search.bucket_count < selection_count(selection) / 64)
        search.bucket_count *= 2;
    while (selection->session->duration_ns >> search.shift >= search.bucket_count)
        search.shift++;
    search.buckets = calloc(search.bucket_count, sizeof(*search.buckets));
    if (!search.buckets)
        return session_fail_memory(error, "the peak");
    bool good = true;
    for (uint32_t i = 1; good && i <= names->machines; i++) {
        search.machine = names->machines > 1 ? i : 0;
        good = search_machine(&search, selection, error);
    }
    free(search.buckets);
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
