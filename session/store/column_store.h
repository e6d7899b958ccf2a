/* SPDX-License-Identifier: BSD-2-Clause */
/* The directory of column chunks (schemas/columns.md), and readers that read them on demand, a
 * whole chunk of one column at a time. Nothing is kept: the system's page cache is the cache. So a
 * session may be larger than memory.
 *
 * A store does not change after it is open, and any number of threads may use it. Each thread has a
 * reader of its own. Chunks of a finished session are read straight from its file (big_rows.h), and
 * where that is not possible through SQLite, one thread at a time. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/column_codec.h"
#include "session/session.h"
#include "session/store/big_rows.h"

struct database;
struct column_store;
struct column_reader;

struct column_view {
    const uint8_t *data; /* value - min, each in `width` bytes; NULL if width is 0 */
    uint64_t min, max, mask;
    unsigned width; /* 0, 1, 2, 4 or 8 */
    uint32_t rows;
};

/* Reads the directory of chunks and checks it: lengths, widths, rows, gaps. Returns NULL with
 * `error` naming the damaged chunk. */
struct column_store *column_store_open(struct database *database, struct session_error *error);
/* Reads the directory of the sample of rows (schemas/columns.md), which may have none. */
struct column_store *column_store_open_sample(struct database *database,
                                              struct session_error *error);
/* Closes the store. Its readers must be freed. */
void column_store_close(struct column_store *store);

uint64_t column_store_rows(const struct column_store *store);
uint32_t column_store_chunks(const struct column_store *store);
uint32_t column_store_chunk_rows(const struct column_store *store, uint32_t chunk);
/* Return the smallest and largest value without reading the data, to skip chunks. */
uint64_t column_store_min(const struct column_store *store, uint32_t chunk, enum column column);
uint64_t column_store_max(const struct column_store *store, uint32_t chunk, enum column column);
/* Returns the bytes of the data of a chunk as it is stored. */
size_t column_store_length(const struct column_store *store, uint32_t chunk, enum column column);
/* Return times between which a chunk's blocks were freed, in ns: none before the first, none after
 * the last. The last is UINT64_MAX if some were never freed. The bounds may be wider than
 * needed. */
uint64_t column_store_first_free(const struct column_store *store, uint32_t chunk);
uint64_t column_store_last_free(const struct column_store *store, uint32_t chunk);

/* Makes a reader for one thread. Returns NULL with `error` set. It costs no memory before it reads.
 */
struct column_reader *column_reader_new(struct column_store *store, struct session_error *error);
void column_reader_free(struct column_reader *reader);

/* Gives the values of a chunk. The view stays valid until this reader gets the same column again,
 * of any chunk; that of lifetimes also ends when it gets the times of allocation of another chunk.
 * Every value is within [min, max] of the view, so a caller that has checked max may
 * use values as indexes. Returns false with `error` set. */
bool column_reader_get(struct column_reader *reader, uint32_t chunk, enum column column,
                       struct column_view *view, struct session_error *error);

static inline uint64_t column_view_at(const struct column_view *view, size_t row)
{
    return column_get(view->data, view->width, view->mask, view->min, row);
}

/* The work of all readers of a store so far: for tests and benchmarks. */
struct column_reads {
    uint64_t direct, by_sqlite; /* chunks */
    uint64_t bytes;             /* of the direct ones, with the pages that lead to them */
};
struct column_reads column_store_reads(const struct column_store *store);

/* ---- column directory ---- */

/* The directory behind a column store; private to column_store.c and column_*.c of this room. */

/* One chunk of one column. */
struct column_entry {
    uint64_t min, max;
    uint32_t length; /* of the data, in bytes */
    uint8_t width;   /* bytes of max - min */
    bool present;
    atomic_bool checked; /* all values were found to be in [min, max] */
};

/* When the blocks of a chunk were freed. */
struct column_frees {
    uint64_t first, last;
};

struct column_store {
    struct database *database;
    const char *table;            /* 'column_chunk' or 'sample_chunk' */
    struct big_rows *direct;      /* NULL: read through SQLite */
    struct column_entry *entries; /* chunk * COLUMN_TOTAL + column */
    struct column_frees *frees;   /* by chunk */
    uint32_t chunks, capacity;
    uint64_t rows;
    atomic_uint_fast64_t direct_reads, sqlite_reads, bytes;
};

static inline struct column_entry *column_store_entry(const struct column_store *store,
                                                      uint32_t chunk, enum column column)
{
    return &store->entries[(size_t)chunk * COLUMN_TOTAL + column];
}
