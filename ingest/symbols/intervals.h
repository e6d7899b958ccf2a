/* SPDX-License-Identifier: BSD-2-Clause */
/* A map from addresses to values, built from intervals that may nest. The innermost interval wins.
 *
 * Order of calls: symbols_intervals_add() for each interval, symbols_intervals_settle() once, then
 * symbols_intervals_find(), a binary search, and symbols_intervals_free(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMBOLS_NOWHERE UINT32_MAX

struct symbols_interval {
    uint64_t start, end;
    uint32_t value; /* below SYMBOLS_NOWHERE; of equal intervals the greater value is the inner */
};

/* Reaches from `start` up to the start of the next segment. */
struct symbols_segment {
    uint64_t start;
    uint32_t value; /* SYMBOLS_NOWHERE: a gap */
};

/* An all-zero map is empty. */
struct symbols_intervals {
    struct symbols_interval *intervals; /* until it is settled */
    size_t count, capacity;
    struct symbols_segment *segments;
    size_t segment_count;
};

/* Both return false if memory is exhausted. Empty intervals are left out. */
bool symbols_intervals_add(struct symbols_intervals *map, uint64_t start, uint64_t end,
                           uint32_t value);
bool symbols_intervals_settle(struct symbols_intervals *map);

/* Returns the value at `address`, or SYMBOLS_NOWHERE. */
uint32_t symbols_intervals_find(const struct symbols_intervals *map, uint64_t address);

void symbols_intervals_free(struct symbols_intervals *map);
