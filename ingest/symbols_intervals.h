/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A map from addresses to values, built from intervals that may nest: the innermost wins.
 *
 * Order of calls: symbols_intervals_add() for each, symbols_intervals_settle() once, then
 * symbols_intervals_find(), a binary search. symbols_intervals_free() releases it.
 */
#ifndef MPROF_INGEST_SYMBOLS_INTERVALS_H
#define MPROF_INGEST_SYMBOLS_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMBOLS_NOWHERE UINT32_MAX

struct symbols_interval {
    uint64_t start, end;
    uint32_t value; /* below SYMBOLS_NOWHERE; the greater one is the inner of equal intervals */
};

/* From `start` up to the next one's start. */
struct symbols_segment {
    uint64_t start;
    uint32_t value; /* SYMBOLS_NOWHERE: a gap */
};

/* All zero is the empty map. */
struct symbols_intervals {
    struct symbols_interval *intervals; /* until it is settled */
    size_t count, capacity;
    struct symbols_segment *segments;
    size_t segment_count;
};

/* Both return false where memory is exhausted. Empty intervals are left out. */
bool symbols_intervals_add(struct symbols_intervals *map, uint64_t start, uint64_t end,
                           uint32_t value);
bool symbols_intervals_settle(struct symbols_intervals *map);

/* The value at `address`, SYMBOLS_NOWHERE where there is none. */
uint32_t symbols_intervals_find(const struct symbols_intervals *map, uint64_t address);

void symbols_intervals_free(struct symbols_intervals *map);

#endif
