/* SPDX-License-Identifier: BSD-2-Clause */
/* The directory behind a column store; private to column_store.c and column_reader.c. */
#ifndef MPROF_SESSION_DATA_COLUMN_DIRECTORY_H
#define MPROF_SESSION_DATA_COLUMN_DIRECTORY_H

#include <stdatomic.h>

#include "session/data/big_rows.h"
#include "session/data/column_store.h"

/* One chunk of one column. */
struct column_entry {
    uint64_t min, max;
    uint8_t width;
    bool present;
    atomic_bool checked; /* all values were found to be in [min, max] */
};

struct column_store {
    struct database *database;
    struct big_rows *direct;      /* NULL: read through SQLite */
    struct column_entry *entries; /* chunk * COLUMN_TOTAL + column */
    uint32_t *chunk_rows;
    uint32_t chunks, capacity;
    uint64_t rows;
    atomic_uint_fast64_t direct_reads, sqlite_reads, bytes;
};

static inline struct column_entry *column_store_entry(const struct column_store *store,
                                                      uint32_t chunk, enum column column)
{
    return &store->entries[(size_t)chunk * COLUMN_TOTAL + column];
}

/* Returns false with `error` set to what is wrong with row `id` of column_chunk. */
bool column_store_damaged(const struct column_store *store, int64_t id, const char *what,
                          struct session_error *error);

#endif
