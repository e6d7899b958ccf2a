/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds what one window of time changes in each group. */
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/group/peak_search.h"

enum { PART_BITS = 7, DIGIT_BITS = 8, EVENTS_PER_LOOK = 1 << 16 };

bool peak_keep_wanted(struct sweeper *sweeper, struct scan_worker *worker, uint32_t chunk,
                      struct session_error *error)
{
    const struct search *search = sweeper->search;
    if (!search->wanted)
        return true;
    if (!group_of_rows(search->set, worker, chunk, sweeper->hits, sweeper->groups, error))
        return false;
    ROW_SET_EACH(sweeper->hits, row)
    {
        if (!search->wanted[sweeper->groups[row]])
            sweeper->hits[row / 64] &= ~(UINT64_C(1) << (row % 64));
    }
    return true;
}

/* ---- the events of a window ---- */

/* Sets the bits of the rows that begin or end in the window. Returns false if there are none. */
static bool find_hits(struct sweeper *sweeper, const struct window *window, const uint64_t *words,
                      const struct column_view *began, const struct column_view *life)
{
    const uint64_t from = window->from;
    const uint64_t span = window->last - from;
    uint64_t any = 0;
    for (uint32_t first = 0; first < began->rows; first += 64) {
        const uint32_t here = began->rows - first < 64 ? began->rows - first : 64;
        uint64_t bits = 0;
        for (uint32_t i = 0; words[first / 64] != 0 && i < here; i++) {
            const uint64_t at = column_view_at(began, first + i);
            const uint64_t lived = column_view_at(life, first + i);
            const bool hit = (at - from <= span) | ((lived != 0) & (at + lived - 1 - from <= span));
            bits |= (uint64_t)hit << i;
        }
        bits &= words[first / 64];
        sweeper->hits[first / 64] = bits;
        any |= bits;
    }
    for (size_t i = (began->rows + 63) / 64; i < ROW_SET_WORDS; i++)
        sweeper->hits[i] = 0;
    return any != 0;
}

static bool room_for_events(struct sweeper *sweeper, struct session_error *error)
{
    /* A chunk has at most two events for each row. */
    const size_t need = sweeper->count + 2 * (size_t)COLUMN_CHUNK_ROWS;
    if (need > sweeper->capacity) {
        /* Nearly all windows keep to their limit: memory that is not used costs nothing. */
        const size_t usual = sweeper->search->window_events + 2 * (size_t)COLUMN_CHUNK_ROWS;
        const size_t capacity = need > usual ? need + need / 4 : usual;
        struct event *events = realloc(sweeper->events, capacity * sizeof(*events));
        if (events)
            sweeper->events = events;
        struct event *spare = realloc(sweeper->spare, capacity * sizeof(*spare));
        if (spare)
            sweeper->spare = spare;
        if (!events || !spare)
            return session_fail_memory(error, "the peaks of groups");
        sweeper->capacity = capacity;
    }
    const size_t more = sweeper->large_count + COLUMN_CHUNK_ROWS;
    if (more > sweeper->large_capacity) {
        struct large_event *large = realloc(sweeper->large, more * 2 * sizeof(*large));
        if (!large)
            return session_fail_memory(error, "the peaks of groups");
        sweeper->large = large;
        sweeper->large_capacity = more * 2;
    }
    return true;
}

/* The columns of one chunk. */
struct event_views {
    struct column_view began, life, size, bytes, counts, thread;
};

static bool read_sizes(struct sweeper *sweeper, struct scan_worker *worker, uint32_t chunk,
                       struct event_views *views, struct session_error *error)
{
    const struct search *search = sweeper->search;
    if (!scan_column(worker, chunk, COLUMN_SIZE, &views->size, error) ||
        (search->machines > 1 && !scan_column(worker, chunk, COLUMN_THREAD, &views->thread, error)))
        return false;
    estimate_chunk(search->set->session->estimate, (uint64_t)chunk * COLUMN_CHUNK_ROWS,
                   &views->size, sweeper->estimated, &views->bytes, &views->counts);
    return true;
}

static void add_events(struct sweeper *sweeper, const struct window *window,
                       const struct event_views *views, size_t row)
{
    const struct search *search = sweeper->search;
    const uint64_t from = column_view_at(&views->began, row);
    const uint64_t lived = column_view_at(&views->life, row);
    const uint64_t bytes = column_view_at(&views->bytes, row);
    const uint64_t count = search->live_counts ? column_view_at(&views->counts, row) : 1;
    struct event event = {.place = sweeper->groups[row], .bytes = (uint32_t)bytes};
    if (search->machines > 1)
        event.place = peak_place(search, event.place, column_view_at(&views->thread, row));
    if (bytes > UINT32_MAX || count != 1) {
        sweeper->large[sweeper->large_count] = (struct large_event){bytes, count};
        event.bytes = (uint32_t)sweeper->large_count++;
        event.place |= EVENT_LARGE;
    }
    if (from >= window->from && from <= window->last) {
        event.key = (from - window->from) << 1 | 1;
        sweeper->events[sweeper->count++] = event;
    }
    const uint64_t ended = from + lived - 1;
    if (lived != 0 && ended >= window->from && ended <= window->last) {
        event.key = (ended - window->from) << 1;
        sweeper->events[sweeper->count++] = event;
    }
}

static bool collect_chunk(struct sweeper *sweeper, struct scan_worker *worker, uint32_t chunk,
                          const struct window *window, struct session_error *error)
{
    struct session_group_set *set = sweeper->search->set;
    const struct freed *freed = &sweeper->search->free[chunk];
    const uint64_t first = column_store_min(set->session->columns, chunk, COLUMN_ALLOC_NS);
    const uint64_t last = column_store_max(set->session->columns, chunk, COLUMN_ALLOC_NS);
    struct event_views views;
    if ((first > window->last || last < window->from) &&
        (freed->first > window->last || freed->last < window->from))
        return true;
    if (row_set_chunk_empty(&set->rows, chunk))
        return true;
    if (!scan_go_on(set->session, error) ||
        !scan_column(worker, chunk, COLUMN_ALLOC_NS, &views.began, error) ||
        !scan_column(worker, chunk, COLUMN_LIFE_NS, &views.life, error))
        return false;
    if (!find_hits(sweeper, window, row_set_chunk(&set->rows, chunk), &views.began, &views.life))
        return true;
    if (!peak_keep_wanted(sweeper, worker, chunk, error) ||
        (!sweeper->search->wanted &&
         !group_of_rows(set, worker, chunk, sweeper->hits, sweeper->groups, error)))
        return false;
    /* The key `freed` reads this column, too: the view may have moved. */
    if (!scan_column(worker, chunk, COLUMN_LIFE_NS, &views.life, error) ||
        !read_sizes(sweeper, worker, chunk, &views, error) || !room_for_events(sweeper, error))
        return false;
    ROW_SET_EACH(sweeper->hits, row)
    {
        add_events(sweeper, window, &views, row);
    }
    return true;
}

/* Moves the events from `from` to `to`, in the order of `bits` bits of their keys. `ends` gets, for
 * each value of these bits, the position after its last event. */
static void distribute(const struct event *from, struct event *to, size_t count, unsigned shift,
                       unsigned bits, size_t *ends)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    size_t place = 0;
    memset(ends, 0, sizeof(*ends) << bits);
    for (size_t i = 0; i < count; i++)
        ends[from[i].key >> shift & mask]++;
    for (size_t digit = 0; digit <= mask; digit++) {
        const size_t here = ends[digit];
        ends[digit] = place;
        place += here;
    }
    for (size_t i = 0; i < count; i++)
        to[ends[from[i].key >> shift & mask]++] = from[i];
}

/*
 * Sorts the events by key. The highest bits part them, so that each part fits into a core's cache.
 * A part is sorted by the least significant digits first (Knuth, TAOCP 3, 5.2.5).
 */
static bool sort_events(struct sweeper *sweeper, struct session_error *error)
{
    const struct session *session = sweeper->search->set->session;
    size_t parts[1 << PART_BITS];
    size_t ends[1 << DIGIT_BITS];
    uint64_t all = 0;
    for (size_t i = 0; i < sweeper->count; i++)
        all |= sweeper->events[i].key;
    const unsigned width = all == 0 ? 0 : 64 - (unsigned)__builtin_clzll(all);
    const unsigned lower = width > PART_BITS ? width - PART_BITS : 0;
    const unsigned digits = (lower + DIGIT_BITS - 1) / DIGIT_BITS;
    struct event *from = sweeper->events;
    struct event *to = sweeper->spare;
    distribute(from, to, sweeper->count, lower, PART_BITS, parts);
    for (unsigned digit = 0; digit < digits; digit++) {
        size_t begin = 0;
        struct event *swap = from;
        from = to;
        to = swap;
        for (size_t part = 0; part < 1 << PART_BITS; part++) {
            if (!scan_go_on(session, error))
                return false;
            distribute(from + begin, to + begin, parts[part] - begin, digit * DIGIT_BITS,
                       DIGIT_BITS, ends);
            begin = parts[part];
        }
    }
    sweeper->events = to;
    sweeper->spare = from;
    return scan_go_on(session, error);
}

/* Returns true to end a loop over events. */
static bool is_cancelled(const struct sweeper *sweeper, size_t i)
{
    return i % EVENTS_PER_LOOK == 0 && scan_cancelled(sweeper->search->set->session);
}

static void sweep(struct sweeper *sweeper)
{
    for (size_t i = 0; i < sweeper->count && !is_cancelled(sweeper, i); i++) {
        const struct event *event = &sweeper->events[i];
        /* Many places do not fit into the cache: fetch one ahead of its turn. */
        if (i + 16 < sweeper->count)
            __builtin_prefetch(&sweeper->changes[event[16].place & ~EVENT_LARGE], 1);
        const uint32_t place = event->place & ~EVENT_LARGE;
        const uint64_t bytes =
            (event->place & EVENT_LARGE) != 0 ? sweeper->large[event->bytes].bytes : event->bytes;
        struct change *change = &sweeper->changes[place];
        if (change->best == 0) {
            change->best = 1;
            sweeper->touched[sweeper->touched_count++] = place;
        }
        if ((event->key & 1) == 0) {
            change->net -= (int64_t)bytes;
            continue;
        }
        change->net += (int64_t)bytes;
        change->best = change->net >= change->best ? change->net + 1 : change->best;
    }
}

/* Does the same and counts the blocks, at the first moment that had the largest change. */
static void sweep_counts(struct sweeper *sweeper)
{
    for (size_t i = 0; i < sweeper->count && !is_cancelled(sweeper, i); i++) {
        const struct event *event = &sweeper->events[i];
        const uint32_t place = event->place & ~EVENT_LARGE;
        struct large_event of = {event->bytes, 1};
        if ((event->place & EVENT_LARGE) != 0)
            of = sweeper->large[event->bytes];
        struct change *change = &sweeper->changes[place];
        struct count_change *counts = &sweeper->counts_of[place];
        if (change->best == 0) {
            change->best = 1;
            *counts = (struct count_change){.key = EVENT_NONE};
            sweeper->touched[sweeper->touched_count++] = place;
        }
        if ((event->key & 1) == 0) {
            change->net -= (int64_t)of.bytes;
            counts->net -= (int64_t)of.count;
            continue;
        }
        change->net += (int64_t)of.bytes;
        counts->net += (int64_t)of.count;
        const bool again = counts->key == EVENT_NONE || counts->key == event->key;
        if (change->net >= change->best || (again && change->net + 1 == change->best)) {
            change->best = change->net + 1;
            counts->best = counts->net;
            counts->key = event->key;
        }
    }
}

bool peak_sweep_window(struct sweeper *sweeper, struct scan_worker *worker,
                       const struct window *window, struct session_error *error)
{
    sweeper->count = sweeper->large_count = 0;
    for (uint32_t chunk = 0; chunk < sweeper->search->set->rows.chunks; chunk++) {
        if (!collect_chunk(sweeper, worker, chunk, window, error))
            return false;
    }
    if (!sort_events(sweeper, error))
        return false;
    if (sweeper->counts_of)
        sweep_counts(sweeper);
    else
        sweep(sweeper);
    return scan_go_on(sweeper->search->set->session, error);
}
