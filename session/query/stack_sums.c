/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/query/stack_sums.h"

#include <stdlib.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/group/group_state.h"
#include "session/query/screen_pass.h"
#include "session/stacks.h"

/* Sums that lie anywhere are fetched so many rows ahead of their turn. */
enum { AHEAD = 64 };

enum { COUNT_BITS = 24, BYTE_BITS = 64 - COUNT_BITS };

/* Bytes and count of a stack in one number. */
#define PACKED(bytes) ((bytes) << COUNT_BITS | 1)
#define COUNT_OF(packed) ((packed) & ((UINT64_C(1) << COUNT_BITS) - 1))
#define BYTES_OF(packed) ((packed) >> COUNT_BITS)

enum { STACKS_PER_LOOK = 1 << 17 };

void stack_tables_empty(struct stack_tables *tables)
{
    struct stack_summing *summing = tables->summing;
    if (tables->rows == 0)
        return;
    pthread_mutex_lock(&summing->lock);
    for (uint32_t stack = 0; stack < summing->stacks; stack++) {
        struct stack_sum *sum = &summing->sums[stack];
        /* The caller looks again before it goes on, and drops the sums. */
        if (stack % STACKS_PER_LOOK == 0 && scan_cancelled(summing->session))
            break;
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

static bool is_at_peak(const struct stack_summing *summing, const struct stack_rows *taken,
                       size_t i)
{
    /* Life 0 means never freed: life - 1 is then the largest number. */
    return taken->began[i] <= summing->peak_ns &&
           taken->life_ns[i] - 1 > summing->peak_ns - taken->began[i] &&
           (summing->peak_machine == 0 ||
            group_machine_of(summing->session, taken->thread[i]) == summing->peak_machine);
}

static void add_packed(struct stack_tables *tables, const struct stack_rows *taken)
{
    const size_t count = taken->rows.count;
    uint64_t *all = tables->all;
    for (size_t i = 0; i < count && i < AHEAD; i++)
        __builtin_prefetch(&all[taken->stack[i]], 1);
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            __builtin_prefetch(&all[taken->stack[i + AHEAD]], 1);
        all[taken->stack[i]] += PACKED(taken->bytes[i]);
    }
    for (size_t i = 0; taken->short_lived && i < count; i++)
        tables->short_lived[taken->stack[i]]++;
    for (size_t i = 0; taken->life && i < count; i++) {
        if (taken->life_ns[i] - 1 < SESSION_SHORT_LIVED_NS)
            tables->short_lived[taken->stack[i]]++;
        if (taken->life_ns[i] == 0)
            tables->live[taken->stack[i]] += PACKED(taken->bytes[i]);
    }
    for (size_t i = 0; taken->peak && i < count; i++) {
        if (is_at_peak(tables->summing, taken, i))
            tables->at_peak[taken->stack[i]] += PACKED(taken->bytes[i]);
    }
}

/* Adds without tables. */
static void add_plain(struct stack_summing *summing, const struct stack_rows *taken)
{
    pthread_mutex_lock(&summing->lock);
    for (size_t i = 0; i < taken->rows.count; i++) {
        struct stack_sum *sum = &summing->sums[taken->stack[i]];
        const bool live = taken->life_ns[i] == 0;
        const bool at_peak = is_at_peak(summing, taken, i);
        sum->bytes += taken->bytes[i];
        sum->count += taken->counts[i];
        sum->live_bytes += live ? taken->bytes[i] : 0;
        sum->live_count += live ? taken->counts[i] : 0;
        sum->at_peak_bytes += at_peak ? taken->bytes[i] : 0;
        sum->at_peak_count += at_peak ? taken->counts[i] : 0;
        sum->short_lived += taken->life_ns[i] - 1 < SESSION_SHORT_LIVED_NS ? taken->counts[i] : 0;
    }
    pthread_mutex_unlock(&summing->lock);
}

/* Adds the rows of a sample, each of which represents a number of blocks. */
static void add_sampled(void *context, const struct chunk_rows *rows)
{
    struct stack_tables *tables = context;
    struct stack_rows taken;
    KERNEL_EACH_BATCH(rows->words, &taken.rows)
    {
        kernel_take(&rows->views[COLUMN_STACK], &taken.rows, taken.stack);
        kernel_take(&rows->views[COLUMN_ALLOC_NS], &taken.rows, taken.began);
        kernel_take(&rows->views[COLUMN_LIFE_NS], &taken.rows, taken.life_ns);
        kernel_take(&rows->bytes, &taken.rows, taken.bytes);
        kernel_take(&rows->counts, &taken.rows, taken.counts);
        if (tables->summing->peak_machine != 0)
            kernel_take(&rows->views[COLUMN_THREAD], &taken.rows, taken.thread);
        add_plain(tables->summing, &taken);
    }
}

void stack_rows_look(const struct stack_summing *summing, const struct column_store *store,
                     uint32_t chunk, struct stack_rows *rows)
{
    const uint64_t peak_ns = summing->peak_ns;
    const uint64_t least = column_store_min(store, chunk, COLUMN_LIFE_NS);
    const uint64_t most = column_store_max(store, chunk, COLUMN_LIFE_NS);
    rows->huge =
        column_store_max(store, chunk, COLUMN_SIZE) >= (UINT64_C(1) << BYTE_BITS) / KERNEL_ROWS;
    rows->peak = rows->huge || (column_store_min(store, chunk, COLUMN_ALLOC_NS) <= peak_ns &&
                                column_store_last_free(store, chunk) > peak_ns);
    rows->short_lived = least > 0 && most - 1 < SESSION_SHORT_LIVED_NS;
    rows->life =
        rows->huge || least == 0 || (!rows->short_lived && least - 1 < SESSION_SHORT_LIVED_NS);
}

/* Adds the rows by tables, or without them if they are too large. */
void stack_tables_add(struct stack_tables *tables, struct stack_rows *rows)
{
    const uint64_t bytes = kernel_sum(rows->bytes, rows->rows.count);
    if (rows->huge) {
        for (size_t i = 0; i < rows->rows.count; i++)
            rows->counts[i] = 1;
        add_plain(tables->summing, rows);
        return;
    }
    if (tables->rows + rows->rows.count >= UINT64_C(1) << COUNT_BITS ||
        tables->bytes + bytes >= UINT64_C(1) << BYTE_BITS)
        stack_tables_empty(tables);
    add_packed(tables, rows);
    tables->rows += rows->rows.count;
    tables->bytes += bytes;
}

static bool add_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                      struct session_error *error)
{
    struct stack_tables *tables = context;
    const struct row_set *set = tables->summing->set;
    struct column_view stack, size, begin, life, thread;
    struct stack_rows taken;
    if (row_set_chunk_empty(set, chunk))
        return true;
    stack_rows_look(tables->summing, scan_session(worker)->columns, chunk, &taken);
    const bool machines = taken.peak && tables->summing->peak_machine != 0;
    if (!scan_column(worker, chunk, COLUMN_STACK, &stack, error) ||
        !scan_column(worker, chunk, COLUMN_SIZE, &size, error) ||
        (taken.peak && !scan_column(worker, chunk, COLUMN_ALLOC_NS, &begin, error)) ||
        (machines && !scan_column(worker, chunk, COLUMN_THREAD, &thread, error)) ||
        ((taken.peak || taken.life) && !scan_column(worker, chunk, COLUMN_LIFE_NS, &life, error)))
        return false;
    KERNEL_EACH_BATCH(row_set_chunk(set, chunk), &taken.rows)
    {
        kernel_take(&stack, &taken.rows, taken.stack);
        kernel_take(&size, &taken.rows, taken.bytes);
        if (taken.peak)
            kernel_take(&begin, &taken.rows, taken.began);
        if (taken.peak || taken.life)
            kernel_take(&life, &taken.rows, taken.life_ns);
        if (machines)
            kernel_take(&thread, &taken.rows, taken.thread);
        stack_tables_add(tables, &taken);
    }
    return true;
}

size_t stack_tables_size(const struct stack_summing *summing)
{
    return summing->stacks * (3 * sizeof(uint64_t) + sizeof(uint32_t));
}

void stack_tables_place(struct stack_tables *tables, struct stack_summing *summing, void *memory)
{
    const size_t stacks = summing->stacks;
    tables->summing = summing;
    tables->all = memory;
    tables->live = tables->all + stacks;
    tables->at_peak = tables->live + stacks;
    tables->short_lived = (uint32_t *)(tables->at_peak + stacks);
}

static bool sum_stacks(struct selection *selection, struct stack_summing *summing,
                       struct session_error *error)
{
    const size_t size = sizeof(struct stack_tables) + stack_tables_size(summing);
    struct scan_contexts contexts;
    if (!scan_contexts_open(selection->session, &contexts, size, (size_t)64 << 20, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++) {
        struct stack_tables *tables = contexts.each[i];
        stack_tables_place(tables, summing, tables + 1);
    }
    bool good = selection->session->estimate
                    ? scan_each_chunk(selection->session, &selection->set,
                                      COLUMN_BIT(COLUMN_SIZE) | COLUMN_BIT(COLUMN_ALLOC_NS) |
                                          COLUMN_BIT(COLUMN_LIFE_NS) | COLUMN_BIT(COLUMN_STACK) |
                                          COLUMN_BIT(COLUMN_THREAD),
                                      add_sampled, contexts.each, contexts.threads, error)
                    : scan_chunks(selection->session, selection->set.chunks, add_chunk,
                                  contexts.each, contexts.threads, error);
    for (size_t i = 0; good && i < contexts.threads; i++) {
        stack_tables_empty(contexts.each[i]);
        good = scan_go_on(selection->session, error);
    }
    scan_contexts_close(&contexts);
    return good;
}

bool stack_summing_open(struct stack_summing *summing, const struct selection *selection,
                        struct session_error *error)
{
    *summing = (struct stack_summing){.stacks = selection->session->stacks.count,
                                      .session = selection->session,
                                      .set = &selection->set,
                                      .peak_ns = selection->session->peak_ns};
    summing->sums = calloc(summing->stacks, sizeof(*summing->sums));
    if (!summing->sums)
        return session_fail_memory(error, "the sums by stack");
    if (!group_peak_machine(selection->session, &summing->peak_machine, error)) {
        free(summing->sums);
        return false;
    }
    pthread_mutex_init(&summing->lock, NULL);
    return true;
}

void stack_summing_close(struct stack_summing *summing, struct selection *selection, bool good)
{
    if (good)
        selection->stack_sums = summing->sums;
    else
        free(summing->sums);
    pthread_mutex_destroy(&summing->lock);
}

bool selection_sum_stacks(struct selection *selection, struct session_error *error)
{
    struct stack_summing summing;
    if (selection->stack_sums)
        return true;
    if (stack_summing_open(&summing, selection, error))
        stack_summing_close(&summing, selection, sum_stacks(selection, &summing, error));
    return selection->stack_sums != NULL;
}

const struct stack_sum *selection_stack_sums(struct selection *selection,
                                             struct session_error *error)
{
    if (!selection->stack_sums && !screen_pass_expected(selection, error))
        return NULL;
    return selection_sum_stacks(selection, error) ? selection->stack_sums : NULL;
}
