/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums blocks up by time and key (schemas/slots.md), while events come in the order of time. Only
 * the open slots are kept as numbers; closed ones are coded. A level that would need more than
 * SLOT_SUMS_MOST bytes is given up, so memory is bounded.
 *
 * Order of calls: slot_sums_new(), slot_sums_allocate(), slot_sums_free() and slot_sums_rename(),
 * slot_sums_finish(), then the results may be read, slot_sums_delete(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/slot_codec.h"

#define SLOT_SUMS_MOST (UINT64_C(16) << 20)

/* Fewer allocations have no sums: their rows are read as fast. */
#define SLOT_FEWEST 65537u

struct slot_sums;

/* The keys of a block. Times are in ns; they never decrease from call to call. */
struct slot_event {
    uint64_t ns, address, size;
    uint32_t function, type;
    uint64_t live_bytes; /* of the heap, after the event */
};

/* `events`: at least the allocations, and SLOT_FEWEST. NULL if memory is exhausted. */
struct slot_sums *slot_sums_new(uint64_t duration_ns, uint64_t events);
void slot_sums_delete(struct slot_sums *sums);

/* Count an event. False if memory is exhausted. */
bool slot_sums_allocate(struct slot_sums *sums, const struct slot_event *event);
bool slot_sums_free(struct slot_sums *sums, const struct slot_event *event);
/* Gives a live block that was allocated at `alloc_ns` another type. False if memory is exhausted.
 */
bool slot_sums_rename(struct slot_sums *sums, uint32_t type, uint32_t new_type, uint64_t size,
                      uint64_t alloc_ns);

/* Closes the last slots, and leaves out levels that are too large for so many allocations. False if
 * memory is exhausted. */
bool slot_sums_finish(struct slot_sums *sums, uint64_t allocations);

/* A row of the table slot_sum, or of tile. */
struct slot_sums_part {
    unsigned level;
    uint32_t number;
    const uint8_t *data;
    size_t length;
};
struct slot_sums_tile {
    uint64_t number; /* address >> SLOT_TILE_SHIFT */
    uint64_t largest;
};

uint64_t slot_sums_slot_ns(const struct slot_sums *sums);
/* Stores the next part of a key. *next is 0 before the first. False after the last. */
bool slot_sums_next(const struct slot_sums *sums, enum slot_key key, size_t *next,
                    struct slot_sums_part *part);
/* Returns the tiles, with ids from 1. */
size_t slot_sums_tiles(const struct slot_sums *sums, const struct slot_sums_tile **tiles);
/* Returns the schema's word: 'all', 'function', … */
const char *slot_sums_key_name(enum slot_key key);
