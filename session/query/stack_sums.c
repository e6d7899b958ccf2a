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
#include "session/group/group_state.h"
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
    const struct row_set *set;
    const struct session *session;
    uint64_t peak_ns;
    uint32_t peak_machine; /* whose blocks count at the peak; 0: there is only one */
};

/* What one thread has added since it emptied its tables. */
struct tables {
    struct summing *summing;
    uint64_t rows, bytes;
    uint64_t *all, *live, *at_peak; /* by stack: packed */
    uint32_t *short_lived;
};

/* What one chunk needs, and the values of some of its rows. Columns that cannot matter are not
 * read: few chunks have blocks that were live at the peak or at the end. */
struct taken {
    bool peak;        /* some block may have been live at the peak */
    bool life;        /* some may be live or short-lived, others not */
    bool short_lived; /* all are, without `life` */
    bool huge;        /* too large for the tables */
    struct kernel_rows rows;
    uint64_t stack[KERNEL_ROWS], bytes[KERNEL_ROWS], counts[KERNEL_ROWS];
    uint64_t began[KERNEL_ROWS], lives[KERNEL_ROWS], thread[KERNEL_ROWS];
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
        sum->at_peak_bytes += BYTES_OF(tables->at_peak[stack]);
        sum->at_peak_count += COUNT_OF(tables->at_peak[stack]);
        sum->short_lived += tables->short_lived[stack];
        tables->all[stack] = tables->live[stack] = tables->at_peak[stack] = 0;
        tables->short_lived[stack] = 0;
    }
    pthread_mutex_unlock(&summing->lock);
    tables->rows = tables->bytes = 0;
}

static bool is_at_peak(const struct summing *summing, const struct taken *taken, size_t i)
{
    /* Life 0 means never freed: life - 1 is then the largest number. */
    return taken->began[i] <= summing->peak_ns &&
           taken->lives[i] - 1 > summing->peak_ns - taken->began[i] &&
           (summing->peak_machine == 0 ||
            group_machine_of(summing->session, taken->thread[i]) == summing->peak_machine);
}

static void add_packed(struct tables *tables, const struct taken *taken)
{
    const size_t count = taken->rows.count;
    for (size_t i = 0; i < count; i++)
        tables->all[taken->stack[i]] += PACKED(taken->bytes[i]);
    for (size_t i = 0; taken->short_lived && i < count; i++)
        tables->short_lived[taken->stack[i]]++;
    for (size_t i = 0; taken->life && i < count; i++) {
        if (taken->lives[i] - 1 < SHORT_LIVED_NS)
            tables->short_lived[taken->stack[i]]++;
        if (taken->lives[i] == 0)
            tables->live[taken->stack[i]] += PACKED(taken->bytes[i]);
    }
    for (size_t i = 0; taken->peak && i < count; i++) {
        if (is_at_peak(tables->summing, taken, i))
            tables->at_peak[taken->stack[i]] += PACKED(taken->bytes[i]);
    }
}

/* Adds without tables. */
static void add_plain(struct summing *summing, const struct taken *taken)
{
    pthread_mutex_lock(&summing->lock);
    for (size_t i = 0; i < taken->rows.count; i++) {
        struct stack_sum *sum = &summing->sums[taken->stack[i]];
        const bool live = taken->lives[i] == 0;
        const bool at_peak = is_at_peak(summing, taken, i);
        sum->bytes += taken->bytes[i];
        sum->count += taken->counts[i];
        sum->live_bytes += live ? taken->bytes[i] : 0;
        sum->live_count += live ? taken->counts[i] : 0;
        sum->at_peak_bytes += at_peak ? taken->bytes[i] : 0;
        sum->at_peak_count += at_peak ? taken->counts[i] : 0;
        sum->short_lived += taken->lives[i] - 1 < SHORT_LIVED_NS ? taken->counts[i] : 0;
    }
    pthread_mutex_unlock(&summing->lock);
}

/* Adds the rows of a sample, each of which represents a number of blocks. */
static void add_sampled(void *context, const struct chunk_rows *rows)
{
    struct tables *tables = context;
    struct taken taken;
    KERNEL_EACH_BLOCK(rows->words, &taken.rows)
    {
        kernel_take(&rows->views[COLUMN_STACK], &taken.rows, taken.stack);
        kernel_take(&rows->views[COLUMN_ALLOC_NS], &taken.rows, taken.began);
        kernel_take(&rows->views[COLUMN_LIFE_NS], &taken.rows, taken.lives);
        kernel_take(&rows->bytes, &taken.rows, taken.bytes);
        kernel_take(&rows->counts, &taken.rows, taken.counts);
        if (tables->summing->peak_machine != 0)
            kernel_take(&rows->views[COLUMN_THREAD], &taken.rows, taken.thread);
        add_plain(tables->summing, &taken);
    }
}

/* Decides by the directory which columns of a chunk matter. */
static void look_ahead(const struct tables *tables, const struct column_store *store,
                       uint32_t chunk, struct taken *taken)
{
    const uint64_t peak_ns = tables->summing->peak_ns;
    const uint64_t least = column_store_min(store, chunk, COLUMN_LIFE_NS);
    const uint64_t most = column_store_max(store, chunk, COLUMN_LIFE_NS);
    taken->huge =
        column_store_max(store, chunk, COLUMN_SIZE) >= (UINT64_C(1) << BYTE_BITS) / KERNEL_ROWS;
    taken->peak = taken->huge || (column_store_min(store, chunk, COLUMN_ALLOC_NS) <= peak_ns &&
                                  column_store_last_free(store, chunk) > peak_ns);
    taken->short_lived = least > 0 && most - 1 < SHORT_LIVED_NS;
    taken->life = taken->huge || least == 0 || (!taken->short_lived && least - 1 < SHORT_LIVED_NS);
}

/* Adds the rows of a block by tables, or without them if they are too large. */
static void add_block(struct tables *tables, struct taken *taken)
{
    const uint64_t bytes = kernel_sum(taken->bytes, taken->rows.count);
    if (taken->huge) {
        for (size_t i = 0; i < taken->rows.count; i++)
            taken->counts[i] = 1;
        add_plain(tables->summing, taken);
        return;
    }
    if (tables->rows + taken->rows.count >= UINT64_C(1) << COUNT_BITS ||
        tables->bytes + bytes >= UINT64_C(1) << BYTE_BITS)
        empty(tables);
    add_packed(tables, taken);
    tables->rows += taken->rows.count;
    tables->bytes += bytes;
}

static bool add_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                      struct session_error *error)
{
    struct tables *tables = context;
    const struct row_set *set = tables->summing->set;
    struct column_view stack, size, begin, life, thread;
    struct taken taken;
    if (row_set_chunk_empty(set, chunk))
        return true;
    look_ahead(tables, scan_session(worker)->columns, chunk, &taken);
    const bool machines = taken.peak && tables->summing->peak_machine != 0;
    if (!scan_column(worker, chunk, COLUMN_STACK, &stack, error) ||
        !scan_column(worker, chunk, COLUMN_SIZE, &size, error) ||
        (taken.peak && !scan_column(worker, chunk, COLUMN_ALLOC_NS, &begin, error)) ||
        (machines && !scan_column(worker, chunk, COLUMN_THREAD, &thread, error)) ||
        ((taken.peak || taken.life) && !scan_column(worker, chunk, COLUMN_LIFE_NS, &life, error)))
        return false;
    KERNEL_EACH_BLOCK(row_set_chunk(set, chunk), &taken.rows)
    {
        kernel_take(&stack, &taken.rows, taken.stack);
        kernel_take(&size, &taken.rows, taken.bytes);
        if (taken.peak)
            kernel_take(&begin, &taken.rows, taken.began);
        if (taken.peak || taken.life)
            kernel_take(&life, &taken.rows, taken.lives);
        if (machines)
            kernel_take(&thread, &taken.rows, taken.thread);
        add_block(tables, &taken);
    }
    return true;
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
    const bool good =
        selection->session->estimate
            ? scan_each_chunk(selection->session, &selection->set,
                              COLUMN_BIT(COLUMN_SIZE) | COLUMN_BIT(COLUMN_ALLOC_NS) |
                                  COLUMN_BIT(COLUMN_LIFE_NS) | COLUMN_BIT(COLUMN_STACK) |
                                  COLUMN_BIT(COLUMN_THREAD),
                              add_sampled, contexts.each, contexts.threads, error)
            : scan_chunks(selection->session, selection->set.chunks, add_chunk, contexts.each,
                          contexts.threads, error);
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
                              .session = selection->session,
                              .set = &selection->set,
                              .peak_ns = selection->session->peak_ns};
    summing.sums = calloc(summing.stacks, sizeof(*summing.sums));
    if (!summing.sums) {
        session_fail_memory(error, "the sums by stack");
        return NULL;
    }
    if (group_peak_machine(selection->session, &summing.peak_machine, error) &&
        sum_stacks(selection, &summing, error))
        selection->stack_sums = summing.sums;
    else
        free(summing.sums);
    pthread_mutex_destroy(&summing.lock);
    return selection->stack_sums;
}
