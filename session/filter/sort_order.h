/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorts allocations by a field, by their keys (sort_key.h). Nulls come last in both directions.
 * Equal rows keep the order of their ids. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/filter/program.h"
#include "session/session.h"
#include "session/store/column_store.h"
#include "session/store/kernels.h"
#include "session/store/row_set.h"
#include "session/store/scan.h"

/* ---- sort key ---- */

/* The keys by which allocations are sorted: numbers that order as a field does (names by their rank
 * among the names). Nulls have the largest key in both directions.
 *
 * Order of calls: sort_key_open(), then for each chunk sort_key_chunk() and sort_key_take(),
 * sort_key_close(). Several threads may use one key. */

/* No name, time or size in a session reaches it. */
#define SORT_KEY_NULL UINT64_MAX

/* The way to compute a row's key. */
struct sort_key {
    enum filter_field field;
    enum column column;
    uint64_t *rank;    /* by the column's value; NULL: the value itself is the key */
    uint64_t ranks;    /* a bound of the ranks, null excepted */
    struct pins *pins; /* of filter_field_found() */
    uint64_t by_color[FILTER_COLOR_STEPS + 1], end_ns;
    bool descending;
};

/* Makes the key of a set's order; without one, the ids. Returns false with `error` set. */
bool sort_key_open(struct session *session, const struct row_set *set,
                   const struct filter_colors *colors, struct sort_key *key,
                   struct session_error *error);
void sort_key_close(struct sort_key *key);

/* Stores bounds of the keys of all rows that are not null. */
void sort_key_bounds(const struct sort_key *key, const struct column_store *store, uint64_t *low,
                     uint64_t *high);
/* Does the same for a chunk. It reads nothing. Returns false if it knows none. */
bool sort_key_chunk_bounds(const struct sort_key *key, const struct column_store *store,
                           uint32_t chunk, uint64_t *low, uint64_t *high);

/* The columns of one chunk that give the keys. */
struct sort_key_chunk {
    struct column_view value, begin; /* of FIELD_CROSSED, `begin` is the thread */
    const uint8_t *colors;
    uint64_t first_row;
};
/* Reads the columns of a chunk. Returns false with `error` set. */
bool sort_key_chunk(const struct sort_key *key, const struct row_set *set,
                    struct scan_worker *worker, uint32_t chunk, struct sort_key_chunk *columns,
                    struct session_error *error);
/* Stores the keys of some rows of the chunk, one after another. */
void sort_key_take(const struct sort_key *key, const struct sort_key_chunk *columns,
                   const struct kernel_rows *rows, uint64_t *keys);

struct sort_entry {
    uint64_t key;
    uint64_t row; /* id - 1 */
};

/* Up to so many rows are found without sorting all. */
#define SORT_FEW 65536

/* Stores the rows of `set` in its order, at most `limit` of them, in a new array that the caller
 * frees. All rows are sorted by radix; for few rows each thread keeps a heap of `limit` entries
 * (Knuth, TAOCP 3, 5.2.3 and 5.2.5). Returns false with `error` set. */
bool sort_order_rows(struct session *session, const struct row_set *set,
                     const struct filter_colors *colors, uint64_t limit,
                     struct sort_entry **entries, size_t *count, struct session_error *error);

/* Sorts by key. Equal keys keep their order. Returns false if memory is exhausted. */
bool sort_entries(struct sort_entry *entries, size_t count);
/* Does the same for a question about a session: a cancel ends it. Returns false with `error` set.
 */
bool sort_entries_of(const struct session *session, struct sort_entry *entries, size_t count,
                     struct session_error *error);
