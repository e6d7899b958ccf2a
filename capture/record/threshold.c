/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/threshold.h"

#include "capture/record/real.h"

#define GRAINS 64u
#define LARGEST_LIVE_GRAIN 65536u
#define LARGEST_ALLOCATIONS_GRAIN 256u

_Atomic bool threshold_counts;

static struct {
    struct options_limit start, stop;
    int64_t live_grain;
    uint64_t allocations_grain;
    _Atomic int64_t live;
    _Atomic uint64_t allocations;
    _Atomic bool started, stopped;
} threshold;

static bool limit_is_set(struct options_limit limit)
{
    return limit.live || limit.allocations;
}

/* Returns the grain for the nearer of two limits, of which 0 means none. */
static uint64_t limit_grain(uint64_t one, uint64_t other, uint64_t largest)
{
    uint64_t nearer = one && (!other || one < other) ? one : other;
    uint64_t grain = nearer / GRAINS;
    return grain == 0 ? 1 : grain < largest ? grain : largest;
}

void threshold_init(struct options_limit start, struct options_limit stop)
{
    threshold.start = start;
    threshold.stop = stop;
    threshold.live_grain = (int64_t)limit_grain(start.live, stop.live, LARGEST_LIVE_GRAIN);
    threshold.allocations_grain =
        limit_grain(start.allocations, stop.allocations, LARGEST_ALLOCATIONS_GRAIN);
    atomic_store(&threshold.started, !limit_is_set(start));
    atomic_store(&threshold.stopped, !limit_is_set(stop));
    atomic_store(&threshold_counts, limit_is_set(start) || limit_is_set(stop));
}

static bool limit_is_passed(struct options_limit limit)
{
    return (limit.live && atomic_load(&threshold.live) > (int64_t)limit.live) ||
           (limit.allocations && atomic_load(&threshold.allocations) > limit.allocations);
}

static bool next_is_passed(void)
{
    return !atomic_load(&threshold.started)
               ? limit_is_passed(threshold.start)
               : !atomic_load(&threshold.stopped) && limit_is_passed(threshold.stop);
}

static bool add_part(struct threshold_part *part)
{
    if (part->live < threshold.live_grain && part->live > -threshold.live_grain &&
        part->allocations < threshold.allocations_grain)
        return false;
    atomic_fetch_add(&threshold.live, part->live);
    atomic_fetch_add(&threshold.allocations, part->allocations);
    *part = (struct threshold_part){0, 0};
    return next_is_passed();
}

bool threshold_count_allocation(struct threshold_part *part, const void *address)
{
    part->live += (int64_t)real.malloc_usable_size((void *)(uintptr_t)address);
    part->allocations++;
    return add_part(part);
}

bool threshold_count_arena(struct threshold_part *part)
{
    part->allocations++;
    return add_part(part);
}

bool threshold_count_free(struct threshold_part *part, const void *address)
{
    part->live -= (int64_t)real.malloc_usable_size((void *)(uintptr_t)address);
    return add_part(part);
}

enum threshold_due threshold_take_due(void)
{
    bool not_yet = false;
    if (!atomic_load(&threshold.started)) {
        if (limit_is_passed(threshold.start) &&
            atomic_compare_exchange_strong(&threshold.started, &not_yet, true)) {
            atomic_store(&threshold_counts, !atomic_load(&threshold.stopped));
            return THRESHOLD_BEGIN;
        }
    } else if (limit_is_passed(threshold.stop) &&
               atomic_compare_exchange_strong(&threshold.stopped, &not_yet, true)) {
        atomic_store(&threshold_counts, false);
        return THRESHOLD_END;
    }
    return THRESHOLD_NOTHING;
}
