/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/type_usage.h"

#include <stdlib.h>

#include "ingest/base/array.h"

/* Takes what is live now as the type's part of the peak, unless that was done since the peak. */
static void settle(struct type_usage *usage, uint64_t generation)
{
    if (usage->generation == generation)
        return;
    usage->generation = generation;
    usage->at_peak_count = usage->live_count;
    usage->at_peak_bytes = usage->live_bytes;
}

static struct type_usage *find(struct type_usages *usages, uint32_t type)
{
    if (!array_reserve(&usages->rows, &usages->capacity, (size_t)type + 1, sizeof(*usages->rows)))
        return NULL;
    return &usages->rows[type];
}

bool type_usages_allocate(struct type_usages *usages, uint32_t type, uint64_t size,
                          const struct type_moment *now)
{
    struct type_usage *usage = find(usages, type);
    if (!usage)
        return false;
    settle(usage, now->generation);
    usage->allocations++;
    usage->bytes += size;
    usage->live_count++;
    usage->live_bytes += size;
    usage->last_allocation = now->order;
    if (usage->live_bytes > usage->peak_bytes) {
        usage->previous_peak = usage->peak_bytes;
        usage->peak_bytes = usage->live_bytes;
        usage->peak_order = now->order;
    }
    return true;
}

void type_usages_free(struct type_usages *usages, uint32_t type, uint64_t size,
                      const struct type_moment *now)
{
    struct type_usage *usage = &usages->rows[type];
    settle(usage, now->generation);
    usage->live_count--;
    usage->live_bytes -= size;
    usage->last_free = now->order;
}

/* Takes the block out of the largest live bytes of its former type. */
static void take_peak(struct type_usage *usage, uint64_t order)
{
    if (usage->peak_order < order)
        return;
    if (usage->peak_order > order) {
        usage->peak_unknown = true;
        return;
    }
    usage->peak_bytes = usage->previous_peak;
    usage->peak_order = order - 1; /* not known, but before this one */
}

/* Adds the block to the largest live bytes of its new type. */
static void give_peak(struct type_usage *usage, uint64_t order)
{
    if (usage->last_allocation > order || usage->last_free >= order)
        usage->peak_unknown = true;
    if (usage->live_bytes > usage->peak_bytes) {
        usage->previous_peak = usage->peak_bytes;
        usage->peak_bytes = usage->live_bytes;
        usage->peak_order = order;
    }
    if (usage->last_allocation < order)
        usage->last_allocation = order;
}

bool type_usages_rename(struct type_usages *usages, uint32_t type, uint32_t new_type, uint64_t size,
                        uint64_t order, const struct type_moment *now)
{
    if (type == new_type)
        return true;
    struct type_usage *to = find(usages, new_type);
    if (!to)
        return false;
    struct type_usage *from = &usages->rows[type];
    /* A share that is not copied yet follows from the live bytes. */
    const bool at_peak = now->peak_order >= order;
    if (!at_peak) {
        settle(from, now->generation);
        settle(to, now->generation);
    }
    if (at_peak && from->generation == now->generation) {
        from->at_peak_count--;
        from->at_peak_bytes -= size;
    }
    if (at_peak && to->generation == now->generation) {
        to->at_peak_count++;
        to->at_peak_bytes += size;
    }
    from->allocations--;
    from->bytes -= size;
    from->live_count--;
    from->live_bytes -= size;
    to->allocations++;
    to->bytes += size;
    to->live_count++;
    to->live_bytes += size;
    take_peak(from, order);
    give_peak(to, order);
    return true;
}

void type_usages_finish(struct type_usages *usages, uint64_t generation)
{
    for (size_t i = 0; i < usages->capacity; i++)
        settle(&usages->rows[i], generation);
}

bool type_usages_join(struct type_usages *sum, const struct type_usages *part, bool largest)
{
    if (part->capacity != 0 && !find(sum, (uint32_t)part->capacity - 1))
        return false;
    for (size_t i = 0; i < sum->capacity; i++) {
        static const struct type_usage none;
        const struct type_usage *add = i < part->capacity ? &part->rows[i] : &none;
        struct type_usage *row = &sum->rows[i];
        row->allocations += add->allocations;
        row->bytes += add->bytes;
        row->live_count += add->live_count;
        row->live_bytes += add->live_bytes;
        if (largest) {
            row->at_peak_count = add->at_peak_count;
            row->at_peak_bytes = add->at_peak_bytes;
        }
        if (add->peak_bytes > row->peak_bytes)
            row->peak_bytes = add->peak_bytes;
    }
    return true;
}

void type_usages_free_memory(struct type_usages *usages)
{
    free(usages->rows);
    *usages = (struct type_usages){0};
}
