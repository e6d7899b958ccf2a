/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sorts allocations by a field, by their keys (sort_key.h). Nulls come last in both directions.
 * Equal rows keep the order of their ids.
 */
#ifndef MPROF_SESSION_FILTER_SORT_ORDER_H
#define MPROF_SESSION_FILTER_SORT_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/filter/program.h"
#include "session/scan/row_set.h"
#include "session/session.h"

struct sort_entry {
    uint64_t key;
    uint64_t row; /* id - 1 */
};

/* Up to so many rows are found without sorting all. */
#define SORT_FEW 65536

/*
 * Stores the rows of `set` in its order, at most `limit` of them, in a new array that the caller
 * frees. All rows are sorted by radix; for few rows each thread keeps a heap of `limit` entries
 * (Knuth, TAOCP 3, 5.2.3 and 5.2.5). Returns false with `error` set.
 */
bool sort_order_rows(struct session *session, const struct row_set *set,
                     const struct filter_colors *colors, uint64_t limit,
                     struct sort_entry **entries, size_t *count, struct session_error *error);

/* Sorts by key. Equal keys keep their order. Returns false if memory is exhausted. */
bool sort_entries(struct sort_entry *entries, size_t count);
/* Does the same for a question about a session: a cancel ends it. Returns false with `error` set.
 */
bool sort_entries_of(const struct session *session, struct sort_entry *entries, size_t count,
                     struct session_error *error);

#endif
