/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far a live session is behind its program, and what is done about that.
 *
 * What is shown is right for the moment that it shows. As long as the program runs and the trace
 * has more than is shown, that moment is as long ago as the clock says; once the program has ended,
 * as much as is left of the trace. A session that falls too far behind skips details until it has
 * caught up: allocations that are freed by then count in all sums, but get no row.
 */
#ifndef MPROF_INGEST_LIVE_LAG_H
#define MPROF_INGEST_LIVE_LAG_H

#include <stdbool.h>
#include <stdint.h>

#define LIVE_LAG_SKIP_NS UINT64_C(5000000000)   /* from here on details are skipped, */
#define LIVE_LAG_CAUGHT_NS UINT64_C(2000000000) /* until it is at most this */

struct live_lag {
    uint64_t behind_ns;
    bool skips;
};

/* Times since the trace began. */
struct live_moment {
    uint64_t shown_ns;
    uint64_t newest_ns; /* the last stamp that the trace had when it was looked at */
    uint64_t now_ns;
    bool ended; /* the program */
};

/* Takes the moment that is about to be shown. */
void live_lag_update(struct live_lag *lag, const struct live_moment *moment);

#endif
