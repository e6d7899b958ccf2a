/*
 * Completed allocations by column: what replay fills and the writer empties. One batch is one
 * chunk of schemas/columns.md; rows of the table `allocation` come from the same numbers.
 */
#ifndef MPROF_INGEST_ROW_BATCH_H
#define MPROF_INGEST_ROW_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/column_codec.h"

struct row_batch {
    uint64_t first_id; /* of row 0: batch number × COLUMN_CHUNK_ROWS + 1 */
    size_t rows;
    uint64_t column[COLUMN_TOTAL][COLUMN_CHUNK_ROWS];
};

/* Where full batches go, and the last one, which may not be full. */
struct row_sink {
    void *context;
    /* Takes `full` (NULL at first) and returns an empty batch; NULL where it cannot go on. */
    struct row_batch *(*exchange)(void *context, struct row_batch *full);
};

#endif
