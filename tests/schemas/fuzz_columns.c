/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target for column chunks. The first byte tells what the rest is: the data of a chunk, or
 * values, which must come back. The next two bytes are the number of rows. With clang and
 * MPROF_FUZZ it is a libFuzzer program; otherwise tests/fuzz_replay.c replays the corpus.
 */
#include <stdlib.h>

#include "schemas/column_codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS_MOST = 4 * COLUMN_BATCH_ROWS };

static uint64_t values[ROWS_MOST], life[ROWS_MOST], again[ROWS_MOST];

/* Unpacks any data, from memory of exactly its length, in both ways. */
static void read_data(const uint8_t *data, size_t size, size_t rows)
{
    struct column_places places;
    uint32_t low[COLUMN_BATCH_ROWS];
    uint8_t *copy = malloc(size + 1);
    if (!copy)
        abort();
    memcpy(copy, data, size);
    uint8_t *exact = realloc(copy, size > 0 ? size : 1);
    if (!exact)
        abort();
    const bool good = column_unpack(exact, size, NULL, rows, again);
    if (column_find_batches(exact, size, rows, &places)) {
        bool all = true;
        for (size_t i = 0; i < column_batches(rows); i++)
            all = column_batch_get32(&places.batch[i], places.body[i], column_batch_rows(rows, i),
                                     0, low) &&
                  all;
        if (all != good)
            abort();
    } else if (good) {
        abort();
    }
    free(exact);
}

/* Packs values of the width that the bytes give. */
static void pack_and_read(const uint8_t *data, size_t size, size_t rows, bool times)
{
    static uint8_t packed[ROWS_MOST / COLUMN_BATCH_ROWS * COLUMN_BATCH_MOST + COLUMN_PADDING];
    const size_t width = 1 + data[0] % 8;
    for (size_t i = 0; i < rows; i++) {
        values[i] = life[i] = 0;
        for (size_t byte = 0; byte < width; byte++)
            values[i] = values[i] << 8 | data[(i * width + byte) % size];
        life[i] = data[i % size] % 3 == 0 ? 0 : values[i] >> 20;
    }
    const uint64_t *lives = times ? life : NULL;
    const size_t length = column_pack(packed, values, lives, rows);
    if (length > column_data_most(rows) || !column_unpack(packed, length, lives, rows, again) ||
        memcmp(values, again, rows * sizeof(*values)) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    const size_t rows = 1 + (data[1] | (size_t)data[2] << 8) % ROWS_MOST;
    if (data[0] % 2 == 0)
        read_data(data + 3, size - 3, rows);
    else
        pack_and_read(data + 3, size - 3, rows, data[0] % 4 == 3);
    return 0;
}
