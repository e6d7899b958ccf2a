/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the exact peaks of rows: the largest sum of bytes that were live at one moment, for all
 * rows together or for each of their groups. Bytes of two machines are never added: each machine
 * of a group has a place of its own, and its largest place is the group's peak.
 *
 * 1. Time is cut into buckets (time_buckets.h). One pass sums the bytes that each place allocates
 *    and frees in each bucket. This gives the live bytes at every border and an upper bound for
 *    each bucket.
 * 2. Only buckets whose bound reaches the largest value at a border can hold the peak of a place.
 *    Another pass collects their events, which are sorted and swept, in several rounds if there are
 *    many.
 * 3. If there are too many places for such sums, or too many events in rounds, the buckets are
 *    joined to windows. Each thread collects, sorts and sweeps windows, which are then joined in
 *    the order of time, so that the live bytes at the start of each are known.
 *
 * In one nanosecond frees come before allocations, because "live at t" means alloc <= t < free. */
#pragma once

#include "session/store/session_state.h"
#include "session/table/time_buckets.h"

struct session_group_set;

/* The most events that are sorted at once, unless a single bucket has more. Tests make it small. */
extern size_t peak_events;

/* The sums of one place in one bucket. */
struct peak_sum {
    uint64_t allocated, freed, allocations, frees;
};
/* Adds the sums of another thread. */
void peak_sums_merge(struct peak_sum *sums, const struct peak_sum *other, size_t count);

/* The largest bytes, the first moment that had them, and the number of blocks then. */
struct peak {
    uint64_t bytes, ns, count;
};

/* Returns how many buckets a search needs for rows of one group. */
size_t peak_buckets(const struct session *session, const struct row_set *rows);

/* Finds the peak of all rows; 0 at 0 if there are no bytes. `sums`: those of all rows by bucket of
 * `time`, on a session of one machine; NULL: not known, nor is the time cut. Returns false with
 * `error` set. */
bool peak_of_rows(struct session *session, const struct row_set *rows,
                  const struct time_buckets *time, const struct peak_sum *sums, struct peak *peak,
                  struct session_error *error);
