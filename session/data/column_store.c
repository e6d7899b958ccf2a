/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/data/column_store.h"

#include <stdlib.h>

#include "session/data/column_directory.h"
#include "session/data/database.h"
#include "session/data/error.h"

bool column_store_damaged(const struct column_store *store, int64_t id, const char *what,
                          struct session_error *error)
{
    return session_fail(error, 0, "%s: column chunk %lld is damaged: %s; ingest the trace again",
                        database_path(store->database), (long long)id, what);
}

/* Prepares direct reading. */
static void open_direct(struct column_store *store)
{
    const uint32_t root = database_direct_root(store->database, store->table);
    if (root == 0)
        return;
    store->direct = big_rows_open(database_path(store->database), root);
    if (store->direct && database_changed(store->database)) {
        big_rows_close(store->direct); /* another file has taken its name */
        store->direct = NULL;
    }
}

static struct column_store *open_table(struct database *database, const char *table,
                                       struct session_error *error)
{
    struct column_store *store = calloc(1, sizeof(*store));
    if (!store) {
        session_fail_memory(error, "the column chunks");
        return NULL;
    }
    store->database = database;
    store->table = table;
    return store;
}

struct column_store *column_store_open(struct database *database, struct session_error *error)
{
    struct column_store *store = open_table(database, "column_chunk", error);
    bool found;
    if (!store)
        return NULL;
    if (!column_directory_unpack(store, &found, error) ||
        (!found && !column_directory_collect(store, error))) {
        column_store_close(store);
        return NULL;
    }
    open_direct(store);
    return store;
}

struct column_store *column_store_open_sample(struct database *database,
                                              struct session_error *error)
{
    struct column_store *store = open_table(database, "sample_chunk", error);
    if (!store)
        return NULL;
    if (!column_directory_collect(store, error)) {
        column_store_close(store);
        return NULL;
    }
    open_direct(store);
    return store;
}

void column_store_close(struct column_store *store)
{
    if (!store)
        return;
    big_rows_close(store->direct);
    free(store->entries);
    free(store->frees);
    free(store);
}

uint64_t column_store_rows(const struct column_store *store)
{
    return store->rows;
}

uint32_t column_store_chunks(const struct column_store *store)
{
    return store->chunks;
}

uint32_t column_store_chunk_rows(const struct column_store *store, uint32_t chunk)
{
    return chunk + 1 < store->chunks
               ? COLUMN_CHUNK_ROWS
               : (uint32_t)(store->rows - (uint64_t)chunk * COLUMN_CHUNK_ROWS);
}

uint64_t column_store_min(const struct column_store *store, uint32_t chunk, enum column column)
{
    return column_store_entry(store, chunk, column)->min;
}

uint64_t column_store_max(const struct column_store *store, uint32_t chunk, enum column column)
{
    return column_store_entry(store, chunk, column)->max;
}

size_t column_store_length(const struct column_store *store, uint32_t chunk, enum column column)
{
    return column_store_entry(store, chunk, column)->length;
}

uint64_t column_store_first_free(const struct column_store *store, uint32_t chunk)
{
    return store->frees[chunk].first;
}

uint64_t column_store_last_free(const struct column_store *store, uint32_t chunk)
{
    return store->frees[chunk].last;
}

struct column_reads column_store_reads(const struct column_store *store)
{
    return (struct column_reads){
        .direct = atomic_load_explicit(&store->direct_reads, memory_order_relaxed),
        .by_sqlite = atomic_load_explicit(&store->sqlite_reads, memory_order_relaxed),
        .bytes = atomic_load_explicit(&store->bytes, memory_order_relaxed),
    };
}
