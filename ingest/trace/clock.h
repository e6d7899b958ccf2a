/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts a trace's ticks to nanoseconds since it began, along the straight line through two clock
 * pairs (schemas/trace-format.md, "Time"), exactly, in 128-bit arithmetic.
 */
#ifndef MPROF_INGEST_TRACE_CLOCK_H
#define MPROF_INGEST_TRACE_CLOCK_H

#include <stdint.h>

#include "ingest/trace/file.h"

struct trace_time {
    uint64_t start_ticks;
    uint64_t ticks, ns; /* of the line: `ns` nanoseconds in `ticks` ticks */
    uint64_t factor;    /* ns per tick, as factor / 2^shift, rounded down */
    unsigned shift;
    bool scaled;  /* false: ticks are nanoseconds */
    bool unknown; /* ticks are not nanoseconds, but without a second pair they count as 1:1 */
};

/*
 * Makes the line through the first and the last clock pair of the file. `record_ticks` and
 * `record_ns` are the pair of the latest CLOCK record, 0 if there is none. It counts if the header
 * has no end pair.
 */
void trace_time_init(struct trace_time *time, const struct trace_file *file, uint64_t record_ticks,
                     uint64_t record_ns);

/* Returns the nanoseconds since the start, at most INT64_MAX, or 0 for stamps before the start. */
static inline uint64_t trace_time_ns(const struct trace_time *time, uint64_t ticks)
{
    if (ticks <= time->start_ticks)
        return 0;
    uint64_t delta = ticks - time->start_ticks;
    if (time->scaled) {
        unsigned __int128 whole = (unsigned __int128)delta * time->ns;
        unsigned __int128 estimate = ((unsigned __int128)delta * time->factor) >> time->shift;
        if (estimate > INT64_MAX)
            return INT64_MAX;
        /* The factor is rounded down, by less than one nanosecond over the line's length. */
        while ((estimate + 1) * time->ticks <= whole)
            estimate++;
        delta = (uint64_t)estimate;
    }
    return delta > INT64_MAX ? INT64_MAX : delta;
}

#endif
