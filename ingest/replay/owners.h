/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The owners of the blocks of stacks, asked of the type rules (types/owner.h). All-zero is empty.
 */
#ifndef MPROF_INGEST_REPLAY_OWNERS_H
#define MPROF_INGEST_REPLAY_OWNERS_H

#include "ingest/base/array.h"
#include "ingest/replay/stacks.h"
#include "ingest/types/types.h"

struct owner_row {
    const char *name; /* owned by the symbolizer */
    enum types_confidence confidence;
};

struct owner_memo;

struct owners {
    struct owner_row *rows; /* by id - 1 */
    size_t count, capacity;
    struct index_map by_name;
    struct owner_memo *memos; /* the answers so far, by the frames that decide */
    size_t memo_count, memo_capacity;
    struct types_frame *frames; /* of all memos */
    size_t frame_count, frame_capacity;
    struct index_map by_frames;
};

void owners_free(struct owners *owners);

/*
 * Returns the id of the owner of the stack's blocks, 0 if it is unknown or memory is exhausted. A
 * stack without the user's own code has none.
 */
uint32_t owners_find(struct owners *owners, struct types *types, const struct stacks *stacks,
                     uint32_t stack);

#endif
