/* SPDX-License-Identifier: BSD-2-Clause */
/* Completed allocations by column. Replay fills a batch, and the writer empties it. One batch is
 * one chunk of schemas/columns.md. Rows of the table `allocation` are made of the same numbers. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "schemas/column_codec.h"

struct row_batch {
    uint64_t first_id; /* of row 0: batch number × COLUMN_CHUNK_ROWS + 1 */
    size_t rows;
    uint64_t column[COLUMN_TOTAL][COLUMN_CHUNK_ROWS];
};

/* A row of the table `column_chunk`, without its data. */
struct row_batch_chunk {
    uint64_t id;
    uint64_t min, max;
    unsigned width;
    size_t length; /* of the data, in bytes */
};

/* Packs column `column` of a batch that has rows into `data`, which has room for
 * column_data_most(batch->rows) bytes. `chunk` describes the result. */
void row_batch_pack(const struct row_batch *batch, unsigned column, uint8_t *data,
                    struct row_batch_chunk *chunk);

/* The receiver of full batches, and of the last one, which may not be full. */
struct row_sink {
    void *context;
    /* Takes `full` (NULL at first). Returns an empty batch, or NULL if it cannot continue. */
    struct row_batch *(*exchange)(void *context, struct row_batch *full);
    uint64_t rows; /* that it has already: ids continue, and the first batch may have begun */
};
