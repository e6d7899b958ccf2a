/* SPDX-License-Identifier: BSD-2-Clause */
/* The coded slots of one level and one kind of key (schemas/slots.md). */
#ifndef MPROF_INGEST_REPLAY_SLOT_LEVEL_H
#define MPROF_INGEST_REPLAY_SLOT_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/slot_codec.h"

struct slot_level_part {
    uint32_t number;
    size_t at, length; /* of its bytes */
};

/* Zero-initialized except for `of` and `most`, it is empty. */
struct slot_level {
    enum slot_key of;
    size_t most; /* bytes; with more, the level is given up */
    bool given_up;
    uint8_t *bytes; /* of closed parts */
    size_t size, capacity;
    struct slot_level_part *parts;
    size_t part_count, part_capacity;
    /* The open part. */
    uint32_t part;
    uint32_t lengths[SLOT_PART];
    uint8_t *cells;
    size_t cells_size, cells_capacity;
    uint64_t next_key;
};

/* Adds a cell. Slots come in ascending order, and the keys of a slot, too. False if memory is
 * exhausted. */
bool slot_level_put(struct slot_level *level, uint64_t slot, const struct slot_cell *cell);
/* Closes the open part, after the last slot. False if memory is exhausted. */
bool slot_level_close(struct slot_level *level);
/* Leaves the level out and frees its memory. */
void slot_level_give_up(struct slot_level *level);
void slot_level_free(struct slot_level *level);

/* An allocation of a closed slot that has got another key. */
struct slot_change {
    uint64_t slot, size;
    uint32_t key, new_key;
};

/* Applies changes, sorted by slot, to a closed level. False if memory is exhausted. */
bool slot_level_change(struct slot_level *level, const struct slot_change *changes, size_t count);

#endif
