/* SPDX-License-Identifier: BSD-2-Clause */
/* The allocations of a selection as a list that can be sorted by any of its columns. A caller asks
 * for the part of it that it shows. No call sorts the whole selection, so the time for a part does
 * not depend on its place, and memory is bounded.
 *
 * The rules of session.h hold. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

enum session_row_field {
    ROWS_AS_FILTERED, /* in the order of the filter's last `sort`, otherwise by id */
    ROWS_BY_ID,
    ROWS_BY_ADDRESS,
    ROWS_BY_SIZE,
    ROWS_BY_COUNT,
    ROWS_BY_TYPE, /* names are in the order of their bytes */
    ROWS_BY_FUNCTION,
    ROWS_BY_USER,
    ROWS_BY_THREAD,
    ROWS_BY_TIME,
    ROWS_BY_LIFETIME,
    ROWS_BY_FREE_THREAD,
    ROWS_FIELDS
};

/* Rows without a value (an unknown type, the freeing thread of a live block) come last in both
 * directions. Equal rows are in the order of their ids. */
struct session_row_order {
    enum session_row_field field;
    bool descending; /* not of AS_FILTERED */
};

/* Returns true if the filter has sorted the allocations. Any thread may call it. */
bool selection_is_sorted(const struct selection *selection);

/* Stores the ids of the allocations at the places from `first` (0 is the first) on: `capacity` of
 * them, or as many as there are. Takes some passes over the selected rows, unless the last calls
 * have found these places already. Returns false with `error` set. */
bool selection_rows(struct selection *selection, const struct session_row_order *order,
                    uint64_t first, size_t capacity, uint64_t *ids, size_t *count,
                    struct session_error *error);

/* Stores the place of an allocation in the list. Takes at most one pass. Returns false with `error`
 * set; its message is empty if the allocation is not selected. */
bool selection_place(struct selection *selection, const struct session_row_order *order,
                     uint64_t id, uint64_t *place, struct session_error *error);
