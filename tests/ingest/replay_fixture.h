/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a built trace through scan, merge and replay, and keeps the rows: the pipeline without
 * SQLite.
 */
#ifndef MPROF_TESTS_INGEST_REPLAY_FIXTURE_H
#define MPROF_TESTS_INGEST_REPLAY_FIXTURE_H

#include "ingest/replay/replay.h"
#include "tests/ingest/trace_builder.h"

struct replayed {
    struct ingest_status status;
    struct trace_file *file;
    struct symbols *symbols;
    struct trace_scan scan;
    struct stacks stacks;
    struct totals totals;
    struct type_table types;
    struct replay replay;
    struct problems problems;       /* of the scan and of replay */
    uint64_t (*rows)[COLUMN_TOTAL]; /* by id - 1 */
    size_t row_count;
    bool good;
};

/* Saves and ends `builder`, frees it, and replays the saved trace. */
struct replayed *replay_built(struct trace_builder *builder);
/* Replays a file. `good` is false if it cannot be read. */
struct replayed *replay_file(const char *path);
void replayed_free(struct replayed *replayed);

#endif
