/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the sums of groups that depend on the stack only from what ingest has summed up by stack,
 * if the groups are made of all rows of the session.
 */
#include <stdlib.h>
#include <string.h>

#include "schemas/packed_array.h"
#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/group/group_state.h"
#include "session/scan/kernels.h"

size_t group_rows_per_stack = 64;

enum { STACKS_PER_LOOK = 1 << 17 };

struct reading {
    const struct session_group_set *set;
    struct group_sum *cells;
    uint64_t allocations;
};

/* Returns true if the set has all rows of the session, and all of them are of the process heap. */
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

/* Adds the sums of a stack to its cell. */
static void add_stack(struct reading *reading, uint64_t stack, uint64_t allocations, uint64_t bytes)
{
    const uint32_t *class_of_value = reading->set->keys.dimensions[0].class_of_value;
    struct group_sum *cell = &reading->cells[class_of_value ? class_of_value[stack] : stack];
    cell->allocations += allocations;
    cell->bytes += bytes;
    reading->allocations += allocations;
}

static bool read_stack(void *context, const struct database_row *row, struct session_error *error)
{
    struct reading *reading = context;
    uint64_t number[3];
    for (int i = 0; i < 3; i++) {
        if (!database_natural(reading->set->session->database, row, i, "stack", &number[i], error))
            return false;
    }
    /* If a stack is missing, the sum of allocations will show it. */
    if (number[0] < reading->set->session->stacks.count)
        add_stack(reading, number[0], number[1], number[2]);
    return true;
}

/* Reads the sums from the packed arrays. Stores in `*found` whether they are there and fit; if not,
 * the sums are 0. */
static bool read_arrays(struct reading *reading, bool *found, struct session_error *error)
{
    struct session *session = reading->set->session;
    const size_t stacks = session->stacks.count, size = stacks * sizeof(uint64_t);
    const uint64_t rows = column_store_rows(session->columns);
    uint8_t *counts = NULL, *bytes = NULL;
    size_t count_size, byte_size;
    bool good =
        database_packed_array(session->database, PACKED_STACK_ALLOCATIONS, &counts, &count_size,
                              error) &&
        database_packed_array(session->database, PACKED_STACK_BYTES, &bytes, &byte_size, error);
    *found = good && counts && bytes && count_size == size && byte_size == size;
    for (size_t stack = 0; *found && good && stack < stacks; stack++) {
        const uint64_t count = packed_get64(counts + stack * sizeof(count));
        good = stack % STACKS_PER_LOOK != 0 || scan_go_on(session, error);
        *found = count <= rows;
        add_stack(reading, stack, count, packed_get64(bytes + stack * sizeof(count)));
    }
    *found = *found && reading->allocations == rows;
    if (!*found && counts && bytes)
        memset(reading->cells, 0, (size_t)reading->set->keys.cells * sizeof(*reading->cells));
    reading->allocations = *found ? rows : 0;
    free(counts);
    free(bytes);
    return good;
}

/* Reads the sums from the table. A pass over few rows is faster than that. */
static bool read_table(struct reading *reading, struct session_error *error)
{
    struct session *session = reading->set->session;
    if (column_store_rows(session->columns) / group_rows_per_stack < session->stacks.count)
        return true;
    return database_each(session->database,
                         "SELECT id, allocations, bytes FROM stack WHERE allocations > 0",
                         read_stack, reading, error);
}

bool group_set_read_sums(struct session_group_set *set, bool *known, struct session_error *error)
{
    const struct group_keys *keys = &set->keys;
    struct reading reading = {.set = set};
    bool found = false;
    *known = false;
    if (keys->cells == 0 || keys->dimension_count != 1 ||
        keys->dimensions[0].source != SOURCE_COLUMN || keys->dimensions[0].column != COLUMN_STACK ||
        set->session->estimate || !has_all_rows(set))
        return true;
    reading.cells = calloc((size_t)keys->cells + 1, sizeof(*reading.cells));
    if (!reading.cells)
        return session_fail_memory(error, "the groups");
    if (!read_arrays(&reading, &found, error) || (!found && !read_table(&reading, error))) {
        free(reading.cells);
        return false;
    }
    /* A session that ingest has not finished has no sums. */
    *known = reading.allocations == column_store_rows(set->session->columns);
    if (*known)
        return group_set_take_cells(set, reading.cells, (size_t)keys->cells, error);
    free(reading.cells);
    return true;
}
