/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the set of blocks that outlived a clear: schemas/filter-language.md, "Outlived".
 *
 * One pass notes for each stack in which parts of the run a clear freed blocks of it, as bits. A
 * second pass looks up each block's stack.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/filter/clears.h"
#include "session/run/run_state.h"
#include "session/scan/scan.h"

enum {
    PARTS = 1024,           /* of the run */
    PARTS_LATER = 10,       /* so many parts after the clear a block must still be live */
    PART_WORDS = PARTS / 64 /* of a stack */
};

struct outlived {
    struct row_set *set;
    const uint8_t *clears;     /* by stack: see clears_find() */
    _Atomic uint64_t *cleared; /* PART_WORDS words of each stack, a bit for each part */
    uint64_t end_ns, part_ns;  /* the end of the run; the length of a part */
};

static uint64_t value(const struct chunk_rows *rows, enum column column, size_t row)
{
    return column_view_at(&rows->views[column], row);
}

/* Notes the parts in which clears freed blocks. */
static void note_clears(void *context, const struct chunk_rows *rows)
{
    const struct outlived *outlived = context;
    ROW_SET_EACH(rows->words, row)
    {
        const uint64_t life = value(rows, COLUMN_LIFE_NS, row);
        if (life == 0 || !outlived->clears[value(rows, COLUMN_FREE_STACK, row)])
            continue;
        const uint64_t free_ns = value(rows, COLUMN_ALLOC_NS, row) + life - 1;
        const uint64_t free_part = free_ns / outlived->part_ns;
        const uint64_t part = free_part < PARTS ? free_part : PARTS - 1;
        atomic_fetch_or_explicit(
            &outlived->cleared[value(rows, COLUMN_STACK, row) * PART_WORDS + part / 64],
            UINT64_C(1) << part % 64, memory_order_relaxed);
    }
}

/* Returns true if a clear freed blocks of the stack in a part from `first` to `last`. */
static bool is_cleared(const struct outlived *outlived, uint64_t stack, uint64_t first,
                       uint64_t last)
{
    for (uint64_t part = first; part <= last;) {
        const uint64_t word = atomic_load_explicit(
            &outlived->cleared[stack * PART_WORDS + part / 64], memory_order_relaxed);
        if (word >> part % 64 & 1)
            return true;
        part = word >> part % 64 == 0 ? (part / 64 + 1) * 64 : part + 1;
    }
    return false;
}

static bool has_outlived(const struct outlived *outlived, const struct chunk_rows *rows, size_t row)
{
    const uint64_t stack = value(rows, COLUMN_STACK, row);
    const uint64_t began = value(rows, COLUMN_ALLOC_NS, row);
    const uint64_t life = value(rows, COLUMN_LIFE_NS, row);
    const uint64_t end = life == 0 ? outlived->end_ns : began + life - 1;
    const uint64_t end_part = end / outlived->part_ns;
    const uint64_t last = end_part < PARTS ? end_part : PARTS - 1;
    if (stack == 0 || outlived->clears[stack] || last < PARTS_LATER ||
        (life != 0 && outlived->clears[value(rows, COLUMN_FREE_STACK, row)]))
        return false;
    return is_cleared(outlived, stack, began / outlived->part_ns + 1, last - PARTS_LATER);
}

static void keep_outlived(void *context, const struct chunk_rows *rows)
{
    const struct outlived *outlived = context;
    uint64_t words[ROW_SET_WORDS] = {0};
    ROW_SET_EACH(rows->words, row)
    {
        if (has_outlived(outlived, rows, row))
            words[row / 64] |= UINT64_C(1) << row % 64;
    }
    memcpy(row_set_chunk(outlived->set, rows->chunk), words, sizeof(words));
}

static bool pass_over(struct run *run, struct outlived *outlived, scan_visitor *visit)
{
    void *contexts[SCAN_THREADS_MAX];
    for (size_t i = 0; i < SCAN_THREADS_MAX; i++)
        contexts[i] = outlived;
    return scan_each_chunk(run->session, outlived->set,
                           COLUMN_BIT(COLUMN_STACK) | COLUMN_BIT(COLUMN_FREE_STACK) |
                               COLUMN_BIT(COLUMN_ALLOC_NS) | COLUMN_BIT(COLUMN_LIFE_NS),
                           visit, contexts, SCAN_THREADS_MAX, run->error);
}

/* Tells by the directory of chunks alone if the session has stacks of frees. */
static bool has_free_stacks(const struct column_store *columns)
{
    for (uint32_t chunk = 0; chunk < column_store_chunks(columns); chunk++) {
        if (column_store_max(columns, chunk, COLUMN_FREE_STACK) > 0)
            return true;
    }
    return false;
}

static bool keep_none(struct row_set *set)
{
    memset(set->words, 0, (size_t)set->chunks * ROW_SET_WORDS * sizeof(*set->words));
    return true;
}

bool run_keep_outlived(struct run *run, struct row_set *set)
{
    /* It spares most sessions the reading of all frames. */
    if (!has_free_stacks(run->session->columns))
        return keep_none(set);
    const size_t stacks = run->session->stacks.count;
    const uint64_t end_ns = run->session->duration_ns;
    uint8_t *clears = clears_find(run->session, run->error);
    if (!clears)
        return false;
    if (!memchr(clears, 1, stacks)) {
        free(clears);
        return keep_none(set);
    }
    struct outlived outlived = {
        .set = set, .clears = clears, .end_ns = end_ns, .part_ns = end_ns / PARTS + 1};
    outlived.cleared = calloc(stacks * PART_WORDS, sizeof(*outlived.cleared));
    const bool good = outlived.cleared ? pass_over(run, &outlived, note_clears) &&
                                             pass_over(run, &outlived, keep_outlived)
                                       : session_fail_memory(run->error, "the filter");
    free(outlived.cleared);
    free(clears);
    return good;
}
