/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Evidence about a block, and on which ways through the code behind its allocation each piece of it
 * was met (types_flow.h).
 *
 * Order of calls: types_way_add() and types_way_add_own() along a way, types_way_end() at its end,
 * after that the next way with `seen`, `last` and `again` as they were where it left the first;
 * types_way_finish() when all are done.
 */
#ifndef MPROF_INGEST_TYPES_WAY_H
#define MPROF_INGEST_TYPES_WAY_H

#include "ingest/types_flow.h"
#include "ingest/types_state.h"

struct types_way {
    struct types_flow *flow;
    uint32_t seen; /* bit n: evidence n was met on the way here */
    uint8_t last;  /* 1 + the number of the last that names a record, 0: none */
    bool again;    /* it runs through code that was run before: no news, but other ways */
    uint32_t ends[TYPES_ENDS_MAX];
};

/* That the result, as `pointer` has it, goes to `type`, or meets `symbol`. */
void types_way_add(struct types_way *way, enum types_evidence_kind kind,
                   const struct types_type *type, const struct types_value *pointer,
                   const char *symbol);

/* That the block, at `stored_at`, points to its own inside. */
void types_way_add_own(struct types_way *way, int64_t stored_at, int64_t offset);

void types_way_end(struct types_way *way);

/* Writes into the evidence at which ends it was met. */
void types_way_finish(struct types_way *way);

#endif
