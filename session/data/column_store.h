/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads column chunks (schemas/columns.md) on demand: a whole chunk of one column at its first use.
 * It keeps chunks while they fit a budget and drops the least recently used first, so a session
 * may be larger than memory.
 *
 * A view from column_store_get() stays valid until COLUMN_TOTAL other chunks have been asked for:
 * a scan may hold all columns of one chunk at the same time.
 */
#ifndef MPROF_SESSION_DATA_COLUMN_STORE_H
#define MPROF_SESSION_DATA_COLUMN_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/column_codec.h"
#include "session/session.h"

struct database;
struct column_store;

struct column_view {
    const uint8_t *data; /* NULL if width is 0 */
    uint64_t min, max, mask;
    unsigned width;
    uint32_t rows;
};

#define COLUMN_STORE_BUDGET ((size_t)1 << 30)

/*
 * Reads the directory of chunks and checks it: lengths, widths, rows, gaps. Returns NULL with
 * `error` naming the damaged chunk. `budget` is in bytes, and raised to the need of a scan.
 */
struct column_store *column_store_open(struct database *database, size_t budget,
                                       struct session_error *error);
void column_store_close(struct column_store *store);

uint64_t column_store_rows(const struct column_store *store);
uint32_t column_store_chunks(const struct column_store *store);
uint32_t column_store_chunk_rows(const struct column_store *store, uint32_t chunk);
/* Return the smallest and largest value without reading the data, to skip chunks. */
uint64_t column_store_min(const struct column_store *store, uint32_t chunk, enum column column);
uint64_t column_store_max(const struct column_store *store, uint32_t chunk, enum column column);

/*
 * Gives the values of a chunk. Reading checks that every value is within [min, max], so a caller
 * that has checked max may use values as indexes. Returns false with `error` set.
 */
bool column_store_get(struct column_store *store, uint32_t chunk, enum column column,
                      struct column_view *view, struct session_error *error);

static inline uint64_t column_view_at(const struct column_view *view, size_t row)
{
    return column_get(view->data, view->width, view->mask, view->min, row);
}

/* Return the bytes held now, and the reads from the file so far: for tests and benchmarks. */
size_t column_store_held(const struct column_store *store);
uint64_t column_store_reads(const struct column_store *store);

#endif
