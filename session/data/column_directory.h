/* SPDX-License-Identifier: BSD-2-Clause */
/* The directory behind a column store; private to column_store.c and column_*.c of this room. */
#ifndef MPROF_SESSION_DATA_COLUMN_DIRECTORY_H
#define MPROF_SESSION_DATA_COLUMN_DIRECTORY_H

#include <stdatomic.h>

#include "session/data/big_rows.h"
#include "session/data/column_store.h"

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

/*
 * Fill the directory of an empty store: from the packed array, which is one read, or from the rows
 * of column_chunk. The first stores in `*found` if the array exists and fits the table. Both return
 * false with `error` set.
 */
bool column_directory_unpack(struct column_store *store, bool *found, struct session_error *error);
bool column_directory_collect(struct column_store *store, struct session_error *error);

/* Returns false with `error` set to what is wrong with row `id` of column_chunk. */
bool column_store_damaged(const struct column_store *store, int64_t id, const char *what,
                          struct session_error *error);

#endif
