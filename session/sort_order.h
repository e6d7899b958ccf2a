/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ordering allocations by a field. A row's key is a number that orders as the field does
 * (names by their rank among the names); nulls come last whichever way the order goes, and
 * what is equal stays in the order of ids.
 */
#ifndef MPROF_SESSION_SORT_ORDER_H
#define MPROF_SESSION_SORT_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/filter_program.h"
#include "session/row_set.h"
#include "session/session.h"

struct sort_entry {
    uint64_t key;
    uint64_t row; /* id - 1 */
};

/*
 * The rows of `set` in its order, at most `limit` of them, as a new array that the caller
 * frees: all are sorted by radix, few by a heap of `limit` entries (Knuth, TAOCP 3, 5.2.3 and
 * 5.2.5). False with `error` set.
 */
bool sort_order_rows(struct session *session, const struct row_set *set,
                     const struct filter_colors *colors, uint64_t limit,
                     struct sort_entry **entries, size_t *count, struct session_error *error);

/* Sorts by key, equal keys keep their order; false where memory is exhausted. */
bool sort_entries(struct sort_entry *entries, size_t count);

#endif
