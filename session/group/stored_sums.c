/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the sums of groups that depend on the stack only from what ingest has summed up by stack,
 * if the groups are made of all rows of the session.
 */
#include <stdlib.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/group/group_state.h"
#include "session/scan/kernels.h"

size_t group_rows_per_stack = 64;

struct reading {
    const struct session_group_set *set;
    struct group_sum *cells;
    uint64_t allocations;
};

/* Tells whether the set has all rows of the session, and all of them are of the process heap. */
static bool has_all_rows(const struct session_group_set *set)
{
    const struct column_store *columns = set->session->columns;
    for (uint32_t chunk = 0; chunk < set->rows.chunks; chunk++) {
        if (column_store_max(columns, chunk, COLUMN_ARENA) != 0 ||
            row_set_chunk_count(&set->rows, chunk) != column_store_chunk_rows(columns, chunk))
            return false;
    }
    return true;
}

static bool read_stack(void *context, const struct database_row *row, struct session_error *error)
{
    struct reading *reading = context;
    const struct session_group_set *set = reading->set;
    const uint32_t *class_of_value = set->keys.dimensions[0].class_of_value;
    uint64_t number[3];
    for (int i = 0; i < 3; i++) {
        if (!database_natural(set->session->database, row, i, "stack", &number[i], error))
            return false;
    }
    if (number[0] >= set->session->stacks.count)
        return true; /* the sum of allocations will show that it is missing */
    struct group_sum *cell =
        &reading->cells[class_of_value ? class_of_value[number[0]] : number[0]];
    cell->allocations += number[1];
    cell->bytes += number[2];
    reading->allocations += number[1];
    return true;
}

bool group_set_read_sums(struct session_group_set *set, bool *known, struct session_error *error)
{
    const struct group_keys *keys = &set->keys;
    const uint64_t rows = column_store_rows(set->session->columns);
    struct reading reading = {.set = set};
    *known = false;
    /* A pass over few rows is faster than reading many stacks. */
    if (keys->cells == 0 || keys->dimension_count != 1 ||
        keys->dimensions[0].source != SOURCE_COLUMN || keys->dimensions[0].column != COLUMN_STACK ||
        set->session->estimate || rows / group_rows_per_stack < set->session->stacks.count ||
        !has_all_rows(set))
        return true;
    reading.cells = calloc((size_t)keys->cells + 1, sizeof(*reading.cells));
    if (!reading.cells)
        return session_fail_memory(error, "the groups");
    if (!database_each(set->session->database,
                       "SELECT id, allocations, bytes FROM stack WHERE allocations > 0", read_stack,
                       &reading, error)) {
        free(reading.cells);
        return false;
    }
    /* A session that ingest has not finished has no sums. */
    *known = reading.allocations == rows;
    if (*known)
        return group_set_take_cells(set, reading.cells, (size_t)keys->cells, error);
    free(reading.cells);
    return true;
}
