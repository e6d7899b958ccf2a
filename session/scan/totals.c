/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/scan/totals.h"

#include "session/data/session_state.h"
#include "session/scan/kernels.h"

/* Reads lives only if some blocks were not freed. */
bool row_totals_add(struct row_totals *totals, struct scan_worker *worker, uint32_t chunk,
                    const uint64_t *words, struct session_error *error)
{
    const bool any_live =
        column_store_min(scan_session(worker)->columns, chunk, COLUMN_LIFE_NS) == 0;
    const uint64_t count = kernel_count(words, ROW_SET_WORDS);
    struct column_view size, life;
    struct kernel_rows batch;
    uint64_t bytes[KERNEL_ROWS], lives[KERNEL_ROWS];
    if (count == 0)
        return true;
    if (!scan_column(worker, chunk, COLUMN_SIZE, &size, error) ||
        (any_live && !scan_column(worker, chunk, COLUMN_LIFE_NS, &life, error)))
        return false;
    totals->allocations += count;
    totals->bytes += kernel_sum_selected(&size, words);
    if (!any_live)
        return true;
    KERNEL_EACH_BATCH(words, &batch)
    {
        kernel_take(&size, &batch, bytes);
        kernel_take(&life, &batch, lives);
        totals->live_bytes += kernel_sum_of_zero(bytes, lives, batch.count);
        totals->live_count += kernel_sum_of_zero(NULL, lives, batch.count);
    }
    return true;
}

void row_totals_merge(struct row_totals *all, const struct row_totals *other)
{
    all->bytes += other->bytes;
    all->allocations += other->allocations;
    all->live_bytes += other->live_bytes;
    all->live_count += other->live_count;
}
