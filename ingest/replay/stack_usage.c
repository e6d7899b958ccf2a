/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/stack_usage.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

bool stack_usages_grow(struct stack_usages *usages, size_t count)
{
    size_t capacity = usages->capacity ? usages->capacity : FIRST_CAPACITY;
    while (capacity < count)
        capacity *= 2;
    if (capacity == usages->capacity)
        return true;
    const size_t added = capacity - usages->capacity;
    struct stack_sums *sums = aligned_alloc(sizeof(*sums), capacity * sizeof(*sums));
    struct stack_share *shares = !sums ? NULL : realloc(usages->shares, capacity * sizeof(*shares));
    if (!shares) {
        free(sums);
        return false;
    }
    if (usages->capacity != 0)
        memcpy(sums, usages->sums, usages->capacity * sizeof(*sums));
    memset(sums + usages->capacity, 0, added * sizeof(*sums));
    memset(shares + usages->capacity, 0, added * sizeof(*shares));
    free(usages->sums);
    usages->sums = sums;
    usages->shares = shares;
    usages->capacity = capacity;
    return true;
}

void stack_usages_finish(struct stack_usages *usages, uint64_t generation)
{
    for (size_t i = 0; i < usages->capacity; i++)
        stack_usages_settle(usages, i, generation);
}

struct stack_usage stack_usages_of(const struct stack_usages *usages, size_t stack)
{
    if (stack >= usages->capacity)
        return (struct stack_usage){0};
    const struct stack_sums *sums = &usages->sums[stack];
    const struct stack_share *share = &usages->shares[stack];
    return (struct stack_usage){
        .allocations = sums->allocations,
        .bytes = sums->bytes,
        .live_count = sums->live_count,
        .live_bytes = sums->live_bytes,
        .at_peak_count = share->count,
        .at_peak_bytes = share->bytes,
        .peak_bytes = sums->peak_bytes,
        .peak_ns = sums->peak_ns,
        .lifetime_ns = sums->lifetime_ns,
    };
}

bool stack_usages_join(struct stack_usages *sum, const struct stack_usages *part, bool largest)
{
    if (!stack_usages_grow(sum, part->capacity))
        return false;
    for (size_t i = 0; i < sum->capacity; i++) {
        const struct stack_usage add = stack_usages_of(part, i);
        struct stack_sums *sums = &sum->sums[i];
        sums->allocations += add.allocations;
        sums->bytes += add.bytes;
        sums->live_count += add.live_count;
        sums->live_bytes += add.live_bytes;
        sums->lifetime_ns += add.lifetime_ns;
        if (largest)
            sum->shares[i] = (struct stack_share){add.at_peak_count, add.at_peak_bytes};
        if (add.peak_bytes > sums->peak_bytes) {
            sums->peak_bytes = add.peak_bytes;
            sums->peak_ns = add.peak_ns;
        }
    }
    return true;
}

void stack_usages_free_memory(struct stack_usages *usages)
{
    free(usages->sums);
    free(usages->shares);
    *usages = (struct stack_usages){0};
}
