/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the exact peak of a selection without sorting all events. Time is cut into buckets, more
 * where more events lie, up to 2^20. One pass sums the bytes that each bucket allocates and frees.
 * This gives the live bytes at every boundary and an upper bound for each bucket. Only buckets
 * whose bound reaches the largest value at a boundary can hold the peak: another pass collects
 * their events, which are sorted and swept. It reads only the chunks that can have such events. In
 * one nanosecond frees come before allocations, because "live at t" means alloc <= t < free.
 *
 * The first pass may belong to the caller, who needs the rows for something else, too. Order of
 * calls: peak_search_new(); peak_search_end() or peak_search_whole(); peak_search_free().
 */
#ifndef MPROF_SESSION_QUERY_PEAK_SEARCH_H
#define MPROF_SESSION_QUERY_PEAK_SEARCH_H

#include "session/query/time_buckets.h"

struct peak_search;

/* The most events that are sorted at once, unless a single bucket has more. Tests make it small. */
extern size_t peak_search_events;

/* The sums of one bucket. */
struct peak_sum {
    uint64_t allocated, freed, allocations, frees;
};

/* `here` tells which rows count, by their thread; NULL: all do. `buckets` stay until the search is
 * freed. Returns NULL with `error` set. */
struct peak_search *peak_search_new(const uint8_t *here, const struct time_buckets *buckets,
                                    struct session_error *error);
void peak_search_free(struct peak_search *search);

/* Returns how many buckets a search of the selection needs. */
size_t peak_search_buckets(const struct selection *selection);

/*
 * Finds the peak from the sums of all rows that count, by bucket, which stay until the search is
 * freed. Raises peak_bytes and peak_ns of the selection to it, or to an earlier moment with as many
 * bytes. Returns false with `error` set.
 */
bool peak_search_end(struct peak_search *search, const struct peak_sum *sums,
                     struct selection *selection, struct session_error *error);

/* Does the first pass, too. */
bool peak_search_whole(struct peak_search *search, struct selection *selection,
                       struct session_error *error);

#endif
