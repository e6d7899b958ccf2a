/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/query/stored_stacks.h"

#include <stdlib.h>

#include "schemas/packed_array.h"
#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/query/selection_state.h"
#include "session/scan/large_memory.h"
#include "stack_sums_sql.h"

enum { STACKS_PER_LOOK = 1 << 17 };

struct stored {
    const struct session *session;
    struct session_stack_sums *rows;
    size_t count;
    uint64_t allocations;
    bool at_peak;
};

static bool read_stored(void *context, const struct database_row *row, struct session_error *error)
{
    struct stored *stored = context;
    const struct session *session = stored->session;
    uint64_t number[7];
    for (int i = 0; i < 7; i++) {
        if (!database_natural(session->database, row, i, "stack", &number[i], error))
            return false;
    }
    /* The sum of allocations will show that one is missing. */
    if (number[0] >= session->stacks.count || stored->count == session->stacks.count)
        return true;
    struct session_stack_sums *sums = &stored->rows[stored->count++];
    *sums = (struct session_stack_sums){.stack = (uint32_t)number[0],
                                        .allocations = number[1],
                                        .bytes = number[2],
                                        .live_count = number[3],
                                        .live_bytes = number[4]};
    if (stored->at_peak) {
        sums->at_peak_count = number[5];
        sums->at_peak_bytes = number[6];
    }
    stored->allocations += number[1];
    return true;
}

/* The packed arrays of the sums by stack (schemas/columns.md). */
struct arrays {
    uint8_t *counts, *bytes, *held;
    size_t count_size, byte_size, held_size;
};

/* Adds what each stack allocated. Returns false if the arrays do not fit. */
static bool take_allocated(struct stored *stored, const struct arrays *arrays)
{
    const size_t stacks = stored->session->stacks.count, each = sizeof(uint64_t);
    if (arrays->count_size != stacks * each || arrays->byte_size != stacks * each)
        return false;
    for (size_t stack = 0; stack < stacks; stack++) {
        /* The table is asked then, and knows, too. */
        if (stack % STACKS_PER_LOOK == 0 && scan_cancelled(stored->session))
            return false;
        stored->rows[stack] =
            (struct session_stack_sums){.stack = (uint32_t)stack,
                                        .allocations = packed_get64(arrays->counts + stack * each),
                                        .bytes = packed_get64(arrays->bytes + stack * each)};
        stored->allocations += stored->rows[stack].allocations;
    }
    return true;
}

/* Adds what stacks held at the peak and at the end. Returns false if the array does not fit. */
static bool take_held(struct stored *stored, const struct arrays *arrays)
{
    uint64_t next = 0; /* the least id of the next record */
    if (arrays->held_size % PACKED_HELD_SIZE != 0)
        return false;
    for (size_t at = 0; at < arrays->held_size; at += PACKED_HELD_SIZE) {
        const uint8_t *record = arrays->held + at;
        const uint32_t stack = packed_get32(record);
        const uint64_t at_peak_count = packed_get64(record + PACKED_HELD_AT_PEAK_COUNT);
        const uint64_t at_peak_bytes = packed_get64(record + PACKED_HELD_AT_PEAK_BYTES);
        if (stack < next || stack >= stored->session->stacks.count)
            return false;
        struct session_stack_sums *sums = &stored->rows[stack];
        next = (uint64_t)stack + 1;
        sums->live_count = packed_get64(record + PACKED_HELD_LIVE_COUNT);
        sums->live_bytes = packed_get64(record + PACKED_HELD_LIVE_BYTES);
        if (sums->live_count > sums->allocations || sums->live_bytes > sums->bytes ||
            at_peak_count > sums->allocations || at_peak_bytes > sums->bytes)
            return false;
        sums->at_peak_count = stored->at_peak ? at_peak_count : 0;
        sums->at_peak_bytes = stored->at_peak ? at_peak_bytes : 0;
    }
    return true;
}

/* Leaves out the stacks without allocations. */
static void drop_empty(struct stored *stored)
{
    for (size_t stack = 0; stack < stored->session->stacks.count; stack++) {
        if (stored->rows[stack].allocations > 0)
            stored->rows[stored->count++] = stored->rows[stack];
    }
}

/* Reads the sums of `allocations` from packed arrays. Stores in `*found` whether they are there and
 * fit. */
static bool read_arrays(struct stored *stored, uint64_t allocations, bool *found,
                        struct session_error *error)
{
    struct database *database = stored->session->database;
    struct arrays arrays = {.counts = NULL};
    const bool good =
        database_packed_array(database, PACKED_STACK_ALLOCATIONS, &arrays.counts,
                              &arrays.count_size, error) &&
        database_packed_array(database, PACKED_STACK_BYTES, &arrays.bytes, &arrays.byte_size,
                              error) &&
        database_packed_array(database, PACKED_STACK_HELD, &arrays.held, &arrays.held_size, error);
    *found = good && arrays.counts && arrays.bytes && arrays.held &&
             take_allocated(stored, &arrays) && stored->allocations == allocations &&
             take_held(stored, &arrays);
    if (*found)
        drop_empty(stored);
    else
        stored->allocations = 0;
    free(arrays.counts);
    free(arrays.bytes);
    free(arrays.held);
    return good;
}

bool stored_stacks(struct selection *selection, bool at_peak, bool *known,
                   struct session_stack_sums **rows, size_t *count, struct session_error *error)
{
    struct session *session = selection->session;
    struct stored stored = {.session = session, .at_peak = at_peak};
    bool found = false;
    stored.rows = large_memory(((size_t)session->stacks.count + 1) * sizeof(*stored.rows));
    if (!stored.rows)
        return session_fail_memory(error, "the sums by stack");
    if (!read_arrays(&stored, selection->allocations, &found, error) ||
        (!found &&
         !database_each(session->database, stack_sums_sql, read_stored, &stored, error))) {
        free(stored.rows);
        return false;
    }
    *known = stored.allocations == selection->allocations;
    if (!*known) {
        free(stored.rows);
        return true;
    }
    *rows = stored.rows;
    *count = stored.count;
    return true;
}
