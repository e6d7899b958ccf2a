/* SPDX-License-Identifier: BSD-2-Clause */
/* Compiled with -O3, which packs columns several times as fast as -O2. */
#include "ingest/replay/row_batch.h"

void row_batch_pack(const struct row_batch *batch, unsigned column, uint8_t *data,
                    struct row_batch_chunk *chunk)
{
    const uint64_t *values = batch->column[column];
    uint64_t min = values[0], max = values[0], differing = 0;
    for (size_t i = 1; i < batch->rows; i++) /* most columns are constant; this uses vectors */
        differing |= values[i] ^ values[0];
    for (size_t i = 1; differing != 0 && i < batch->rows; i++) {
        min = values[i] < min ? values[i] : min;
        max = values[i] > max ? values[i] : max;
    }
    chunk->id = (batch->first_id - 1) / COLUMN_CHUNK_ROWS * COLUMN_ID_STRIDE + column;
    chunk->min = min;
    chunk->max = max;
    chunk->width = column_width(max - min);
    chunk->length = 0;
    if (max > min)
        chunk->length = column_pack(
            data, values, column == COLUMN_ALLOC_NS ? batch->column[COLUMN_LIFE_NS] : NULL,
            batch->rows);
}
