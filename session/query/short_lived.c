/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts by a pass over stacks and lifetimes alone; few blocks live that short. */

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/query/stack_sums.h"
#include "session/scan/kernels.h"
#include "session/stacks.h"

/* The counts of one thread. */
struct counting {
    const struct row_set *set;
    uint64_t words[ROW_SET_WORDS];
    uint32_t counts[]; /* by stack */
};

/* Tells by the directory if a chunk has blocks that lived that short. */
static bool has_short(const struct column_store *store, uint32_t chunk)
{
    const uint64_t least = column_store_min(store, chunk, COLUMN_LIFE_NS);
    return column_store_max(store, chunk, COLUMN_LIFE_NS) > 0 && least <= SESSION_SHORT_LIVED_NS;
}

static bool count_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                        struct session_error *error)
{
    /* Life 0 means never freed; otherwise it is the lifetime and 1. */
    static const struct kernel_range range = {.low = 1, .high = SESSION_SHORT_LIVED_NS};
    struct counting *counting = context;
    struct column_view stack, life;
    if (row_set_chunk_empty(counting->set, chunk) ||
        !has_short(scan_session(worker)->columns, chunk))
        return true;
    if (!scan_column(worker, chunk, COLUMN_STACK, &stack, error) ||
        !scan_column(worker, chunk, COLUMN_LIFE_NS, &life, error))
        return false;
    memset(counting->words, 0, sizeof(counting->words));
    kernel_in_range(&life, &range, counting->words);
    row_set_keep(counting->words, row_set_chunk(counting->set, chunk));
    ROW_SET_EACH(counting->words, row)
    counting->counts[column_view_at(&stack, row)]++;
    return true;
}

/* Takes the counts from the sums by stack. */
static bool take_sums(struct selection *selection, uint64_t *counts, struct session_error *error)
{
    const struct stack_sum *sums = selection_stack_sums(selection, error);
    for (uint32_t stack = 0; sums && stack < selection->session->stacks.count; stack++)
        counts[stack] = sums[stack].short_lived;
    return sums != NULL;
}

/* Counts by a pass over the rows. A thread counts fewer than 2^32 rows. */
static bool count_rows(struct selection *selection, uint64_t *counts, struct session_error *error)
{
    const uint32_t stacks = selection->session->stacks.count;
    struct scan_contexts contexts;
    if (!scan_contexts_open(selection->session, &contexts,
                            sizeof(struct counting) + (size_t)stacks * sizeof(uint32_t),
                            (size_t)64 << 20, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++)
        ((struct counting *)contexts.each[i])->set = &selection->set;
    const bool good = scan_chunks(selection->session, selection->set.chunks, count_chunk,
                                  contexts.each, contexts.threads, error);
    for (size_t i = 0; good && i < contexts.threads; i++) {
        const struct counting *counting = contexts.each[i];
        for (uint32_t stack = 0; stack < stacks; stack++)
            counts[stack] += counting->counts[stack];
    }
    scan_contexts_close(&contexts);
    return good;
}

bool selection_short_lived(struct selection *selection, uint64_t **by_stack,
                           struct session_error *error)
{
    const struct session *session = selection->session;
    uint64_t *counts = calloc((size_t)session->stacks.count + 1, sizeof(*counts));
    if (!counts)
        return session_fail_memory(error, "the sums by stack");
    if (selection->stack_sums || session->estimate || selection->allocations >= UINT32_MAX
            ? take_sums(selection, counts, error)
            : count_rows(selection, counts, error)) {
        *by_stack = counts;
        return true;
    }
    free(counts);
    return false;
}
