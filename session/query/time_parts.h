/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Equal parts of a span of time, and the slots of a timeline, which have TIME_PARTS of them each.
 * The borders are exact.
 */
#ifndef MPROF_SESSION_QUERY_TIME_PARTS_H
#define MPROF_SESSION_QUERY_TIME_PARTS_H

#include "session/query/selection_state.h"

#define TIME_PARTS 16

struct time_parts {
    uint64_t from, to; /* ns; `to` lies after the span */
    size_t count;
    uint64_t *bounds; /* relative to `from`; count + 1 */
    uint64_t scale;   /* parts per nanosecond, times 2^64 */
};

/* Makes the parts of `slots` slots. The span must be longer than 0. Returns false with `error` set;
 * otherwise time_parts_close(). */
bool time_parts_open(struct time_parts *parts, uint64_t from, uint64_t to, size_t slots,
                     struct session_error *error);
void time_parts_close(struct time_parts *parts);

/*
 * Returns the part that holds `ns`, which lies within [from, to).
 * offset * scale / 2^64 is the part's number or, because `scale` is rounded down, one less near a
 * bound. A span with more parts than nanoseconds has empty parts: the result is then the last part
 * that begins at the offset.
 */
static inline size_t time_parts_part(const struct time_parts *parts, uint64_t ns)
{
    const uint64_t offset = ns - parts->from;
    size_t part = (size_t)((unsigned __int128)offset * parts->scale >> 64);
    while (offset >= parts->bounds[part + 1])
        part++;
    return part;
}

/* The events of a part. */
struct part_sum {
    uint64_t allocated_bytes, allocated_count, freed_bytes, freed_count;
};

/* The live bytes before the span, and then their changes. */
struct slot_sums {
    uint64_t live_bytes, live_count;
    uint64_t live_colors[SESSION_COLORS];
    uint64_t (*colors)[SESSION_COLORS]; /* change of live bytes by slot, modulo 2^64 */
    struct part_sum *parts;
};

/* Fills the slots of the parts. `sums` has afterwards what is live after the span. */
void time_parts_fill(const struct time_parts *parts, struct slot_sums *sums,
                     const struct selection *selection, struct session_slot *slots);

#endif
