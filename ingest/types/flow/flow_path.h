/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The evidence about a block, and the paths through the code after its allocation on which each
 * piece was met (flow.h).
 *
 * Order of calls: types_flow_path_add() and types_flow_path_add_own() along a path,
 * types_flow_path_end() at its end. Then follow the next path, with `seen`, `last` and `rerun` as
 * they were where it left the first. types_flow_path_finish() when all paths are done.
 */
#ifndef MPROF_INGEST_TYPES_FLOW_FLOW_PATH_H
#define MPROF_INGEST_TYPES_FLOW_FLOW_PATH_H

#include "ingest/types/flow/flow.h"
#include "ingest/types/flow/flow_state.h"

struct types_flow_path {
    struct types_flow *flow;
    uint32_t seen; /* bit n: evidence n was met on this path so far */
    uint8_t last;  /* 1 + the number of the last evidence that names a record; 0: none */
    bool rerun;    /* this code was run before: it adds no evidence, only new paths */
    uint32_t path_ends[TYPES_PATH_ENDS_MAX];
};

/* Adds that the result, as `pointer` has it, goes to `type`, or meets `symbol`. */
void types_flow_path_add(struct types_flow_path *path, enum types_evidence_kind kind,
                         const struct types_type *type, const struct types_value *pointer,
                         const char *symbol);

/* Adds that the block, at `stored_at`, points into itself. */
void types_flow_path_add_own(struct types_flow_path *path, int64_t stored_at, int64_t offset);

void types_flow_path_end(struct types_flow_path *path);

/* Writes into each piece of evidence at which ends it was met. */
void types_flow_path_finish(struct types_flow_path *path);

#endif
