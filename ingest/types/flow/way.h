/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The evidence about a block, and the ways through the code after its allocation on which each
 * piece was met (flow.h).
 *
 * Order of calls: types_way_add() and types_way_add_own() along a way, types_way_end() at its end.
 * Then follow the next way, with `seen`, `last` and `again` as they were where it left the first.
 * types_way_finish() when all ways are done.
 */
#ifndef MPROF_INGEST_TYPES_FLOW_WAY_H
#define MPROF_INGEST_TYPES_FLOW_WAY_H

#include "ingest/types/flow/flow.h"
#include "ingest/types/flow/flow_state.h"

struct types_way {
    struct types_flow *flow;
    uint32_t seen; /* bit n: evidence n was met on this way so far */
    uint8_t last;  /* 1 + the number of the last evidence that names a record; 0: none */
    bool again;    /* this code was run before: it adds no evidence, only new ways */
    uint32_t ends[TYPES_ENDS_MAX];
};

/* Adds that the result, as `pointer` has it, goes to `type`, or meets `symbol`. */
void types_way_add(struct types_way *way, enum types_evidence_kind kind,
                   const struct types_type *type, const struct types_value *pointer,
                   const char *symbol);

/* Adds that the block, at `stored_at`, points into itself. */
void types_way_add_own(struct types_way *way, int64_t stored_at, int64_t offset);

void types_way_end(struct types_way *way);

/* Writes into each piece of evidence at which ends it was met. */
void types_way_finish(struct types_way *way);

#endif
