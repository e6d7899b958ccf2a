/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranks the functions that allocated in a span of time. */
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/query/selection_state.h"
#include "session/query/summed_timeline.h"
#include "session/scan/kernels.h"

/* The sums of one thread. */
struct span {
    uint64_t from, to;
    const uint32_t *function; /* by stack */
    struct session_share shares[];
};

static void add_rows(void *context, const struct chunk_rows *rows)
{
    struct span *span = context;
    struct kernel_rows batch;
    uint64_t began[KERNEL_ROWS], stack[KERNEL_ROWS], bytes[KERNEL_ROWS], counts[KERNEL_ROWS];
    KERNEL_EACH_BATCH(rows->words, &batch)
    {
        kernel_take(&rows->views[COLUMN_ALLOC_NS], &batch, began);
        kernel_take(&rows->views[COLUMN_STACK], &batch, stack);
        kernel_take(&rows->bytes, &batch, bytes);
        kernel_take(&rows->counts, &batch, counts);
        for (size_t i = 0; i < batch.count; i++) {
            if (began[i] < span->from || began[i] >= span->to)
                continue;
            struct session_share *share = &span->shares[span->function[stack[i]]];
            share->bytes += bytes[i];
            share->count += counts[i];
        }
    }
}

static bool is_wanted(const void *context, const struct column_store *store, uint32_t chunk)
{
    const struct span *span = context;
    return column_store_min(store, chunk, COLUMN_ALLOC_NS) < span->to &&
           column_store_max(store, chunk, COLUMN_ALLOC_NS) >= span->from;
}

static int compare_shares(const void *left, const void *right)
{
    const struct session_share *a = left;
    const struct session_share *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return a->function < b->function ? -1 : a->function > b->function;
}

/* Merges the threads' sums into the first and moves the functions that occur to its beginning.
 * Returns their number. */
static size_t pack(const struct scan_contexts *contexts, uint32_t functions)
{
    struct span *all = contexts->each[0];
    size_t count = 0;
    for (uint32_t id = 0; id < functions; id++) {
        struct session_share sum = {.function = id};
        for (size_t i = 0; i < contexts->threads; i++) {
            sum.bytes += ((const struct span *)contexts->each[i])->shares[id].bytes;
            sum.count += ((const struct span *)contexts->each[i])->shares[id].count;
        }
        if (sum.count > 0)
            all->shares[count++] = sum;
    }
    return count;
}

/* Moves the functions that occur to the beginning. Returns their number. */
static size_t pack_shares(struct session_share *shares, uint32_t functions)
{
    size_t count = 0;
    for (uint32_t id = 0; id < functions; id++) {
        const struct session_share share = {id, shares[id].bytes, shares[id].count};
        if (share.count > 0)
            shares[count++] = share;
    }
    return count;
}

/* Ranks by the sums that ingest has made. False if there are none. */
static bool rank_summed(struct selection *selection, uint64_t from_ns, uint64_t to_ns,
                        struct session_share *shares, size_t capacity, size_t *count)
{
    const uint32_t functions = selection->session->names.function_count;
    struct session_share *all = calloc(functions, sizeof(*all));
    bool done = false;
    *count = 0;
    if (all && summed_functions(selection, from_ns, to_ns, all, &done, NULL) && done) {
        size_t found = pack_shares(all, functions);
        qsort(all, found, sizeof(*all), compare_shares);
        *count = found < capacity ? found : capacity;
        memcpy(shares, all, *count * sizeof(*shares));
    }
    free(all);
    return done;
}

size_t selection_top_functions(struct selection *selection, uint64_t from_ns, uint64_t to_ns,
                               struct session_share *shares, size_t capacity)
{
    struct session *session = selection->session;
    const uint32_t functions = session->names.function_count;
    struct scan_contexts contexts;
    size_t count = 0;
    if (rank_summed(selection, from_ns, to_ns, shares, capacity, &count))
        return count;
    if (!scan_contexts_open(session, &contexts, sizeof(struct span) + functions * sizeof(*shares),
                            (size_t)64 << 20, NULL))
        return 0;
    for (size_t i = 0; i < contexts.threads; i++) {
        struct span *span = contexts.each[i];
        span->from = from_ns;
        span->to = to_ns;
        span->function = session->stacks.function;
    }
    if (scan_wanted_chunks(selection->session, &selection->set,
                           COLUMN_BIT(COLUMN_SIZE) | COLUMN_BIT(COLUMN_ALLOC_NS) |
                               COLUMN_BIT(COLUMN_STACK),
                           is_wanted, add_rows, contexts.each, contexts.threads, NULL)) {
        struct span *all = contexts.each[0];
        count = pack(&contexts, functions);
        qsort(all->shares, count, sizeof(*shares), compare_shares);
        count = count < capacity ? count : capacity;
        memcpy(shares, all->shares, count * sizeof(*shares));
    }
    scan_contexts_close(&contexts);
    return count;
}
