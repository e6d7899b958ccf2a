/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the exact peak of every group: the largest sum of the sizes of its blocks that were live at
 * one moment. For few groups peak_bounds.c does it. Otherwise all events are sorted:
 *
 * 1. One pass counts the events (allocations and frees) in equal parts of the time. The time is cut
 *    into windows that have at most so many events that they fit into memory. A part with too many
 *    is counted again by itself.
 * 2. Threads take the windows in the order of time. A window's events are collected from the chunks
 *    that can have some, sorted by time and swept: this gives the net change of each group in the
 *    window, and the largest sum of changes from its start on.
 * 3. Windows are joined in the order of time, so the live bytes at the start of each are known.
 *
 * In one nanosecond frees come before allocations, because "live at t" means alloc <= t < free.
 * Bytes of two machines are never added: each machine of a group has a place of its own.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "schemas/array.h"
#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/group/peak_search.h"

enum { PARTS = 1 << 16, PLACES_PER_LOOK = 1 << 16 };

size_t group_window_events = 3 << 19;

/* ---- windows ---- */

static void count_event(struct sweeper *sweeper, uint64_t ns)
{
    if (ns >= sweeper->from && ns <= sweeper->last)
        sweeper->counts[(ns - sweeper->from) >> sweeper->shift]++;
}

static bool count_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                        struct session_error *error)
{
    struct sweeper *sweeper = context;
    const struct row_set *rows = &sweeper->search->set->rows;
    struct freed *freed = &sweeper->search->free[chunk];
    struct column_view began, life;
    *freed = (struct freed){UINT64_MAX, 0};
    if (row_set_chunk_empty(rows, chunk))
        return true;
    memcpy(sweeper->hits, row_set_chunk(rows, chunk), sizeof(sweeper->hits));
    if (!peak_keep_wanted(sweeper, worker, chunk, error) ||
        !scan_column(worker, chunk, COLUMN_ALLOC_NS, &began, error) ||
        !scan_column(worker, chunk, COLUMN_LIFE_NS, &life, error))
        return false;
    ROW_SET_EACH(sweeper->hits, row)
    {
        const uint64_t from = column_view_at(&began, row);
        const uint64_t lived = column_view_at(&life, row);
        count_event(sweeper, from);
        if (lived != 0) {
            const uint64_t ended = from + lived - 1;
            count_event(sweeper, ended);
            freed->first = ended < freed->first ? ended : freed->first;
            freed->last = ended > freed->last ? ended : freed->last;
        }
    }
    return true;
}

static bool add_window(struct search *search, uint64_t from, uint64_t last,
                       struct session_error *error)
{
    if (!array_grow(&search->windows, &search->window_capacity, search->window_count + 1,
                    sizeof(*search->windows)))
        return session_fail_memory(error, "the peaks of groups");
    search->windows[search->window_count++] = (struct window){from, last};
    return true;
}

/* Counts the events of the parts of [from, last]. The sums lie in the first sweeper. */
static bool count_events(struct search *search, struct sweeper **sweepers, size_t threads,
                         uint64_t from, uint64_t last, struct session_error *error)
{
    unsigned shift = 0;
    while ((last - from) >> shift >= PARTS)
        shift++;
    for (size_t i = 0; i < threads; i++) {
        sweepers[i]->from = from;
        sweepers[i]->last = last;
        sweepers[i]->shift = shift;
        memset(sweepers[i]->counts, 0, PARTS * sizeof(*sweepers[i]->counts));
    }
    if (!scan_chunks(search->set->session, search->set->rows.chunks, count_chunk, (void **)sweepers,
                     threads, error))
        return false;
    for (size_t i = 1; i < threads; i++)
        for (size_t part = 0; part < PARTS; part++)
            sweepers[0]->counts[part] += sweepers[i]->counts[part];
    return true;
}

/* Cuts [from, last] into windows. It calls itself at most four times, for ever shorter times. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool cut(struct search *search, struct sweeper **sweepers, size_t threads, uint64_t from,
                uint64_t last, struct session_error *error)
{
    uint64_t *counts = malloc(PARTS * sizeof(*counts));
    bool good = counts || session_fail_memory(error, "the peaks of groups");
    good = good && count_events(search, sweepers, threads, from, last, error);
    const unsigned shift = sweepers[0]->shift;
    if (good)
        memcpy(counts, sweepers[0]->counts, PARTS * sizeof(*counts));
    uint64_t start = from; /* of the window that is being filled */
    uint64_t events = 0;   /* in it */
    for (uint64_t part = 0; good && part <= (last - from) >> shift; part++) {
        const uint64_t begin = from + (part << shift);
        const uint64_t end =
            last - begin < (UINT64_C(1) << shift) ? last : begin + (UINT64_C(1) << shift) - 1;
        const bool split = counts[part] > search->window_events && shift > 0;
        if (events + counts[part] > search->window_events && events > 0) {
            good = add_window(search, start, begin - 1, error);
            start = begin;
            events = 0;
        }
        if (good && split) {
            good = cut(search, sweepers, threads, begin, end, error);
            start = end + 1;
            continue;
        }
        events += counts[part];
    }
    if (good && events > 0)
        good = add_window(search, start, last, error);
    free(counts);
    return good;
}

/* ---- joining windows ---- */

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
        search->failed = search->failed || scan_cancelled(search->set->session);
    }
    return !search->failed;
}

/* Joins the counts of a place, whose bytes are `best` at most. */
static void join_counts(struct sweeper *sweeper, uint32_t place, int64_t best)
{
    struct search *search = sweeper->search;
    const struct count_change *counts = &sweeper->counts_of[place];
    const bool larger = best > 0 && (uint64_t)best > search->peaks[place];
    /* Blocks without bytes have a peak of 0 bytes, too. */
    if (larger ||
        (best >= 0 && (uint64_t)best == search->peaks[place] && search->peak_counts[place] == 0))
        search->peak_counts[place] = (uint64_t)(search->live_counts[place] + counts->best);
    search->live_counts[place] += counts->net;
}

/* Returns false if it was cancelled. */
static bool join(struct sweeper *sweeper)
{
    struct search *search = sweeper->search;
    for (size_t i = 0; i < sweeper->touched_count; i++) {
        if (i % PLACES_PER_LOOK == 0 && scan_cancelled(search->set->session))
            return false;
        const uint32_t place = sweeper->touched[i];
        struct change *change = &sweeper->changes[place];
        const int64_t best = search->live[place] + change->best - 1;
        if (sweeper->counts_of)
            join_counts(sweeper, place, best);
        if (best > 0 && (uint64_t)best > search->peaks[place])
            search->peaks[place] = (uint64_t)best;
        search->live[place] += change->net;
        *change = (struct change){.net = 0};
    }
    sweeper->touched_count = 0;
    return true;
}

/* Joins the window that has been swept. `good`: it has been, without an error. */
static bool join_in_turn(struct sweeper *sweeper, uint32_t window, bool good)
{
    struct search *search = sweeper->search;
    pthread_mutex_lock(&search->lock);
    search->failed = search->failed || !good;
    good = good && wait_for_turn(search, window) && join(sweeper);
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
    const bool good = peak_sweep_window(sweeper, worker, &sweeper->search->windows[number], error);
    if (join_in_turn(sweeper, number, good))
        return true;
    return good ? session_fail(error, 0, "the question was cancelled") : false;
}

/* ---- the search ---- */

static void sweeper_free(struct sweeper *sweeper)
{
    if (!sweeper)
        return;
    free(sweeper->counts);
    free(sweeper->events);
    free(sweeper->spare);
    free(sweeper->large);
    free(sweeper->changes);
    free(sweeper->counts_of);
    free(sweeper->touched);
    free(sweeper->estimated);
    free(sweeper);
}

static struct sweeper *sweeper_new(struct search *search)
{
    struct sweeper *sweeper = calloc(1, sizeof(*sweeper));
    const bool sampled = search->set->session->estimate != NULL;
    if (!sweeper)
        return NULL;
    sweeper->search = search;
    sweeper->counts = malloc(PARTS * sizeof(*sweeper->counts));
    sweeper->changes = calloc(search->places + 1, sizeof(*sweeper->changes));
    sweeper->touched = malloc((search->places + 1) * sizeof(*sweeper->touched));
    sweeper->estimated = sampled ? malloc(sizeof(*sweeper->estimated)) : NULL;
    if (search->live_counts)
        sweeper->counts_of = calloc(search->places + 1, sizeof(*sweeper->counts_of));
    if (!sweeper->counts || !sweeper->changes || !sweeper->touched ||
        (search->live_counts && !sweeper->counts_of) || (sampled && !sweeper->estimated)) {
        sweeper_free(sweeper);
        return NULL;
    }
    return sweeper;
}

/* Takes those of the groups that are left whose peaks are not known. Returns false with `error`
 * set. */
static bool choose(struct search *search, bool *any, struct session_error *error)
{
    const struct session_group_set *set = search->set;
    bool all = set->count == set->made;
    *any = false;
    for (size_t i = 0; i < set->count; i++) {
        const bool unknown = set->peaks[set->order[i]] == PEAK_UNKNOWN;
        *any = *any || unknown;
        all = all && unknown;
    }
    if (all || !*any)
        return true;
    search->wanted = calloc(set->made, sizeof(*search->wanted));
    if (!search->wanted)
        return session_fail_memory(error, "the peaks of groups");
    for (size_t i = 0; i < set->count; i++)
        search->wanted[set->order[i]] = set->peaks[set->order[i]] == PEAK_UNKNOWN;
    return true;
}

/* Returns a time that no allocation comes after. */
static uint64_t last_time(const struct session *session)
{
    uint64_t last = (uint64_t)session_meta_number(session, "duration_ns");
    for (uint32_t chunk = 0; chunk < column_store_chunks(session->columns); chunk++) {
        const uint64_t began = column_store_max(session->columns, chunk, COLUMN_ALLOC_NS);
        last = began > last ? began : last;
    }
    return last;
}

static bool search_windows(struct search *search, uint64_t last, struct session_error *error)
{
    struct session_group_set *set = search->set;
    struct sweeper *sweepers[SCAN_THREADS_MAX] = {NULL};
    const size_t each = sizeof(struct change) + sizeof(uint32_t) +
                        (search->live_counts ? sizeof(struct count_change) : 0);
    const size_t threads = group_threads(set, search->places * each + (1 << 20));
    bool good = true;
    search->window_events = group_window_events / threads;
    for (size_t i = 0; good && i < threads; i++) {
        sweepers[i] = sweeper_new(search);
        good = sweepers[i] || session_fail_memory(error, "the peaks of groups");
    }
    good = good && cut(search, sweepers, threads, 0, last, error);
    good = good && scan_chunks(set->session, (uint32_t)search->window_count, take_window,
                               (void **)sweepers, threads, error);
    for (size_t i = 0; i < threads; i++)
        sweeper_free(sweepers[i]);
    return good;
}

static bool run_search(struct search *search, struct session_error *error)
{
    const uint64_t last = last_time(search->set->session);
    bool found;
    /* Its sums of parts count no blocks. */
    if (!search->live_counts) {
        if (!peak_search_bounds(search, last, &found, error))
            return false;
        if (found)
            return true;
    }
    memset(search->live, 0, search->places * sizeof(*search->live));
    return search_windows(search, last, error);
}

static void take_peaks(const struct search *search)
{
    struct session_group_set *set = search->set;
    for (size_t group = 0; group < set->made; group++) {
        if (search->wanted && !search->wanted[group])
            continue;
        set->peaks[group] = 0;
        for (size_t i = 0; i < search->machines; i++) {
            const uint64_t peak = search->peaks[group * search->machines + i];
            set->peaks[group] = peak > set->peaks[group] ? peak : set->peaks[group];
        }
    }
}

/* Makes the places of a search. Returns false with `error` set; search_close() in any case. */
static bool search_open(struct search *search, struct session_group_set *set,
                        struct session_error *error)
{
    *search = (struct search){.set = set, .machines = set->session->names.machines};
    search->places = set->made * search->machines;
    search->free = malloc(((size_t)set->rows.chunks + 1) * sizeof(*search->free));
    search->live = calloc(search->places + 1, sizeof(*search->live));
    search->peaks = calloc(search->places + 1, sizeof(*search->peaks));
    pthread_mutex_init(&search->lock, NULL);
    pthread_cond_init(&search->joined, NULL);
    if (!search->free || !search->live || !search->peaks)
        return session_fail_memory(error, "the peaks of groups");
    return search->places < EVENT_LARGE ||
           session_fail(error, 0, "too many groups and machines for the peaks of groups");
}

static void search_close(struct search *search)
{
    pthread_cond_destroy(&search->joined);
    pthread_mutex_destroy(&search->lock);
    free(search->wanted);
    free(search->free);
    free(search->windows);
    free(search->live);
    free(search->peaks);
    free(search->live_counts);
    free(search->peak_counts);
}

bool group_find_peaks(struct session_group_set *set, struct session_error *error)
{
    struct search search;
    bool any = false;
    bool good = search_open(&search, set, error);
    if (good && !set->peaks) {
        set->peaks = malloc((set->made + 1) * sizeof(*set->peaks));
        good = set->peaks || session_fail_memory(error, "the peaks of groups");
        for (size_t i = 0; good && i < set->made; i++)
            set->peaks[i] = PEAK_UNKNOWN;
    }
    good = good && choose(&search, &any, error);
    if (good && any) {
        good = run_search(&search, error);
        if (good)
            take_peaks(&search);
    }
    search_close(&search);
    return good;
}

bool group_find_own_peaks(struct session_group_set *set, struct group_own_peak **peaks,
                          struct session_error *error)
{
    struct search search;
    bool good = search_open(&search, set, error);
    *peaks = calloc(set->made + 1, sizeof(**peaks));
    search.live_counts = calloc(search.places + 1, sizeof(*search.live_counts));
    search.peak_counts = calloc(search.places + 1, sizeof(*search.peak_counts));
    if (good && (!*peaks || !search.live_counts || !search.peak_counts))
        good = session_fail_memory(error, "the peaks of groups");
    good = good && run_search(&search, error);
    for (size_t place = 0; good && place < search.places; place++) {
        struct group_own_peak *peak = &(*peaks)[place / search.machines];
        if (search.peaks[place] > peak->bytes || peak->count == 0)
            *peak = (struct group_own_peak){search.peaks[place], search.peak_counts[place]};
    }
    search_close(&search);
    if (!good) {
        free(*peaks);
        *peaks = NULL;
    }
    return good;
}
