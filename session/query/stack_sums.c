/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums the selected allocations by stack, in one pass. A session may have hundreds of thousands of
 * stacks, and nearly every row changes the sum of another one. So each thread adds to small tables:
 * one number for each stack holds bytes and count, which stay in the cache of the processor. Before
 * such a number could overflow, the thread empties its tables into the sums.
 */
#include <pthread.h>
#include <stdlib.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/query/selection_state.h"
#include "session/scan/kernels.h"

enum { SHORT_LIVED_NS = 1000000, COUNT_BITS = 24, BYTE_BITS = 64 - COUNT_BITS };

/* Bytes and count of a stack in one number. */
#define PACKED(bytes) ((bytes) << COUNT_BITS | 1)
#define COUNT_OF(packed) ((packed) & ((UINT64_C(1) << COUNT_BITS) - 1))
#define BYTES_OF(packed) ((packed) >> COUNT_BITS)

/* The sums, shared by all threads. */
struct summing {
    pthread_mutex_t lock;
    struct stack_sum *sums;
    uint32_t stacks;
    uint64_t peak_ns;
    bool sampled;
};

/* What one thread has added since it emptied its tables. */
struct tables {
    struct summing *summing;
    uint64_t rows, bytes;
    uint64_t *all, *live, *at_peak; /* by stack: packed, packed, bytes */
    uint32_t *short_lived;
};

/* The values of some rows. */
struct taken {
    struct kernel_rows rows;
    uint64_t stack[KERNEL_ROWS], bytes[KERNEL_ROWS], counts[KERNEL_ROWS];
    uint64_t began[KERNEL_ROWS], life[KERNEL_ROWS];
};

static void empty(struct tables *tables)
{
    struct summing *summing = tables->summing;
    if (tables->rows == 0)
        return;
    pthread_mutex_lock(&summing->lock);
    for (uint32_t stack = 0; stack < summing->stacks; stack++) {
        struct stack_sum *sum = &summing->sums[stack];
        if (tables->all[stack] == 0)
            continue;
        sum->bytes += BYTES_OF(tables->all[stack]);
        sum->count += COUNT_OF(tables->all[stack]);
        sum->live_bytes += BYTES_OF(tables->live[stack]);
        sum->live_count += COUNT_OF(tables->live[stack]);
        sum->at_peak_bytes += tables->at_peak[stack];
        sum->short_lived += tables->short_lived[stack];
        tables->all[stack] = tables->live[stack] = tables->at_peak[stack] = 0;
        tables->short_lived[stack] = 0;
    }
    pthread_mutex_unlock(&summing->lock);
    tables->rows = tables->bytes = 0;
}

static bool is_at_peak(const struct taken *taken, size_t i, uint64_t peak_ns)
{
    /* Life 0 means never freed: life - 1 is then the largest number. */
    return taken->began[i] <= peak_ns && taken->life[i] - 1 > peak_ns - taken->began[i];
}

static void add_packed(struct tables *tables, const struct taken *taken)
{
    const uint64_t peak_ns = tables->summing->peak_ns;
    for (size_t i = 0; i < taken->rows.count; i++)
        tables->all[taken->stack[i]] += PACKED(taken->bytes[i]);
    for (size_t i = 0; i < taken->rows.count; i++) {
        if (taken->life[i] - 1 < SHORT_LIVED_NS)
            tables->short_lived[taken->stack[i]]++;
        if (taken->life[i] == 0)
            tables->live[taken->stack[i]] += PACKED(taken->bytes[i]);
        if (is_at_peak(taken, i, peak_ns))
            tables->at_peak[taken->stack[i]] += taken->bytes[i];
    }
}

/* Adds without tables: blocks that are too large for them, and those of a sample, each of which
 * represents a number of blocks. */
static void add_plain(struct summing *summing, const struct taken *taken)
{
    pthread_mutex_lock(&summing->lock);
    for (size_t i = 0; i < taken->rows.count; i++) {
        struct stack_sum *sum = &summing->sums[taken->stack[i]];
        const bool live = taken->life[i] == 0;
        sum->bytes += taken->bytes[i];
        sum->count += taken->counts[i];
        sum->live_bytes += live ? taken->bytes[i] : 0;
        sum->live_count += live ? taken->counts[i] : 0;
        sum->at_peak_bytes += is_at_peak(taken, i, summing->peak_ns) ? taken->bytes[i] : 0;
        sum->short_lived += taken->life[i] - 1 < SHORT_LIVED_NS ? taken->counts[i] : 0;
    }
    pthread_mutex_unlock(&summing->lock);
}

static void add_rows(void *context, const struct chunk_rows *rows)
{
    struct tables *tables = context;
    struct taken taken;
    const bool huge = rows->bytes.max >= UINT64_C(1) << (BYTE_BITS - 10); /* KERNEL_ROWS of them */
    KERNEL_EACH_BLOCK(rows->words, &taken.rows)
    {
        kernel_take(&rows->views[COLUMN_STACK], &taken.rows, taken.stack);
        kernel_take(&rows->views[COLUMN_ALLOC_NS], &taken.rows, taken.began);
        kernel_take(&rows->views[COLUMN_LIFE_NS], &taken.rows, taken.life);
        kernel_take(&rows->bytes, &taken.rows, taken.bytes);
        if (huge || tables->summing->sampled) {
            kernel_take(&rows->counts, &taken.rows, taken.counts);
            add_plain(tables->summing, &taken);
            continue;
        }
        const uint64_t bytes = kernel_sum(taken.bytes, taken.rows.count);
        if (tables->rows + taken.rows.count >= UINT64_C(1) << COUNT_BITS ||
            tables->bytes + bytes >= UINT64_C(1) << BYTE_BITS)
            empty(tables);
        add_packed(tables, &taken);
        tables->rows += taken.rows.count;
        tables->bytes += bytes;
    }
}

/* Puts the tables of a thread behind its context. */
static void place_tables(struct tables *tables, struct summing *summing)
{
    const size_t stacks = summing->stacks;
    tables->summing = summing;
    tables->all = (uint64_t *)(tables + 1);
    tables->live = tables->all + stacks;
    tables->at_peak = tables->live + stacks;
    tables->short_lived = (uint32_t *)(tables->at_peak + stacks);
}

static bool sum_stacks(struct selection *selection, struct summing *summing,
                       struct session_error *error)
{
    const size_t size =
        sizeof(struct tables) + summing->stacks * (3 * sizeof(uint64_t) + sizeof(uint32_t));
    struct scan_contexts contexts;
    if (!scan_contexts_open(selection->session, &contexts, size, (size_t)64 << 20, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++)
        place_tables(contexts.each[i], summing);
    const bool good = scan_each_chunk(selection->session, &selection->set,
                                      COLUMN_BIT(COLUMN_SIZE) | COLUMN_BIT(COLUMN_ALLOC_NS) |
                                          COLUMN_BIT(COLUMN_LIFE_NS) | COLUMN_BIT(COLUMN_STACK),
                                      add_rows, contexts.each, contexts.threads, error);
    for (size_t i = 0; good && i < contexts.threads; i++)
        empty(contexts.each[i]);
    scan_contexts_close(&contexts);
    return good;
}

const struct stack_sum *selection_stack_sums(struct selection *selection,
                                             struct session_error *error)
{
    if (selection->stack_sums)
        return selection->stack_sums;
    struct summing summing = {.lock = PTHREAD_MUTEX_INITIALIZER,
                              .stacks = selection->session->stacks.count,
                              .peak_ns = selection->session->peak_ns,
                              .sampled = selection->session->estimate != NULL};
    summing.sums = calloc(summing.stacks, sizeof(*summing.sums));
    if (!summing.sums) {
        session_fail_memory(error, "the sums by stack");
        return NULL;
    }
    if (sum_stacks(selection, &summing, error))
        selection->stack_sums = summing.sums;
    else
        free(summing.sums);
    pthread_mutex_destroy(&summing.lock);
    return selection->stack_sums;
}
