/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The live blocks of each stack over time, and at the moment when the program's live bytes were at
 * their peak.
 *
 * The share at the peak is updated lazily. Each new peak of the program begins a generation. A
 * stack that has not changed since then still holds its share at the peak. So the share is only
 * copied before a change, if the stack's generation is old. After the last event
 * stack_usages_finish() copies it for all stacks. This costs one comparison for each event instead
 * of a sweep for each peak.
 *
 * Events come from many stacks in no order, so each of them waits for memory. The sums that every
 * event of a stack changes are one cache line. The shares, which only the first event after a peak
 * changes, are apart.
 */
#ifndef MPROF_INGEST_REPLAY_STACK_USAGE_H
#define MPROF_INGEST_REPLAY_STACK_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sums of a stack, after stack_usages_finish(). */
struct stack_usage {
    uint64_t allocations, bytes; /* in total */
    uint64_t live_count, live_bytes;
    uint64_t at_peak_count, at_peak_bytes;
    uint64_t peak_bytes, peak_ns; /* of this stack alone */
    uint64_t lifetime_ns;         /* sum over freed allocations */
};

/* All bytes 0: no stack has allocated. */
struct stack_usages {
    struct stack_sums *sums; /* by stack id */
    struct stack_share *shares;
    size_t capacity; /* of both */
};

/* The sums so far: one line of a processor's cache. */
struct stack_sums {
    _Alignas(64) uint64_t allocations;
    uint64_t bytes, live_count, live_bytes, peak_bytes, peak_ns, lifetime_ns;
    uint64_t generation; /* of the program's peak, when the share was copied */
};

/* The share of a stack at the peak of its generation. */
struct stack_share {
    uint64_t count, bytes;
};

/* Makes room for stacks below `count`. False if memory is exhausted; then nothing has changed. */
bool stack_usages_grow(struct stack_usages *usages, size_t count);

/* Prefetches the sums of a stack, for an event soon. */
static inline void stack_usages_prefetch(const struct stack_usages *usages, uint32_t stack)
{
    if (stack < usages->capacity)
        __builtin_prefetch(&usages->sums[stack], 1);
}

/* Copies the share of a stack that has not changed since the peak. */
static inline void stack_usages_settle(struct stack_usages *usages, size_t stack,
                                       uint64_t generation)
{
    struct stack_sums *sums = &usages->sums[stack];
    if (sums->generation == generation)
        return;
    sums->generation = generation;
    usages->shares[stack] = (struct stack_share){sums->live_count, sums->live_bytes};
}

/* Counts an allocation. False if memory is exhausted. */
static inline bool stack_usages_allocate(struct stack_usages *usages, uint32_t stack,
                                         uint64_t generation, uint64_t size, uint64_t ns)
{
    if (stack >= usages->capacity && !stack_usages_grow(usages, (size_t)stack + 1))
        return false;
    struct stack_sums *sums = &usages->sums[stack];
    stack_usages_settle(usages, stack, generation);
    sums->allocations++;
    sums->bytes += size;
    sums->live_count++;
    sums->live_bytes += size;
    if (sums->live_bytes > sums->peak_bytes) {
        sums->peak_bytes = sums->live_bytes;
        sums->peak_ns = ns;
    }
    return true;
}

/* Counts the end of a block that was counted with this stack. */
static inline void stack_usages_free(struct stack_usages *usages, uint32_t stack,
                                     uint64_t generation, uint64_t size, uint64_t lifetime_ns)
{
    struct stack_sums *sums = &usages->sums[stack];
    stack_usages_settle(usages, stack, generation);
    sums->live_count--;
    sums->live_bytes -= size;
    sums->lifetime_ns += lifetime_ns;
}

/* Copies the shares of stacks that have not changed since the peak, after the last event. */
void stack_usages_finish(struct stack_usages *usages, uint64_t generation);

/* Returns the sums of a stack, zeros if it has not allocated. */
struct stack_usage stack_usages_of(const struct stack_usages *usages, size_t stack);

/* Adds the usages of another machine (totals_join()). `largest`: its peak is the program's. False
 * if memory is exhausted. */
bool stack_usages_join(struct stack_usages *sum, const struct stack_usages *part, bool largest);

void stack_usages_free_memory(struct stack_usages *usages);

#endif
