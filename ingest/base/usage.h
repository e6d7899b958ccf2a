/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The live blocks of one owner of allocations (a stack, a function) over time, and at the moment
 * when the program's live bytes were at their peak.
 *
 * The share at the peak is updated lazily. Each new peak of the program begins a generation. An
 * owner that has not changed since then still holds its share at the peak. So the share is only
 * copied before a change, if the owner's generation is old. After the last event usage_finish()
 * copies it for all owners. This costs one comparison for each event instead of a sweep for each
 * peak.
 */
#ifndef MPROF_INGEST_BASE_USAGE_H
#define MPROF_INGEST_BASE_USAGE_H

#include <stdint.h>

struct usage {
    uint64_t allocations, bytes; /* in total */
    uint64_t live_count, live_bytes;
    uint64_t at_peak_count, at_peak_bytes;
    uint64_t peak_bytes, peak_ns; /* of this owner alone */
    uint64_t lifetime_ns;         /* sum over freed allocations */
    uint64_t generation;          /* of the program's peak, when at_peak_* was copied */
};

static inline void usage_settle(struct usage *usage, uint64_t generation)
{
    if (usage->generation == generation)
        return;
    usage->generation = generation;
    usage->at_peak_count = usage->live_count;
    usage->at_peak_bytes = usage->live_bytes;
}

static inline void usage_allocate(struct usage *usage, uint64_t generation, uint64_t size,
                                  uint64_t ns)
{
    usage_settle(usage, generation);
    usage->allocations++;
    usage->bytes += size;
    usage->live_count++;
    usage->live_bytes += size;
    if (usage->live_bytes > usage->peak_bytes) {
        usage->peak_bytes = usage->live_bytes;
        usage->peak_ns = ns;
    }
}

static inline void usage_free(struct usage *usage, uint64_t generation, uint64_t size,
                              uint64_t lifetime_ns)
{
    usage_settle(usage, generation);
    usage->live_count--;
    usage->live_bytes -= size;
    usage->lifetime_ns += lifetime_ns;
}

/* Copies the share of an owner that has not changed since the peak, after the last event. */
static inline void usage_finish(struct usage *usage, uint64_t generation)
{
    usage_settle(usage, generation);
}

#endif
