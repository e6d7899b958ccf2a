/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells how far a live session is behind its program, and whether it skips details to catch up.
 *
 * A session is right for the moment that it shows. While the program runs and the trace has more
 * events, the lag is the time from that moment until now. Once the program has ended, it is the
 * time from that moment to the end of the trace. A session that falls too far behind skips details
 * until it has caught up: allocations that are freed by then count in all sums, but get no row.
 */
#ifndef MPROF_INGEST_FOLLOW_LAG_H
#define MPROF_INGEST_FOLLOW_LAG_H

#include <stdbool.h>
#include <stdint.h>

#define FOLLOW_LAG_SKIP_NS UINT64_C(1200000000)  /* skips details if it is further behind, */
#define FOLLOW_LAG_CAUGHT_NS UINT64_C(800000000) /* until it is at most this far behind */

struct follow_lag {
    uint64_t behind_ns;
    bool skips;
};

/* Times since the trace began. */
struct follow_moment {
    uint64_t shown_ns;
    uint64_t newest_ns; /* the last stamp that the trace had when it was looked at */
    uint64_t now_ns;
    bool ended; /* the program has */
};

/* Updates the lag for the moment that is about to be shown. */
static inline void follow_lag_update(struct follow_lag *lag, const struct follow_moment *moment)
{
    uint64_t newest = moment->ended ? moment->newest_ns : moment->now_ns;
    bool all = moment->newest_ns <= moment->shown_ns;
    lag->behind_ns = all || newest <= moment->shown_ns ? 0 : newest - moment->shown_ns;
    lag->skips = lag->behind_ns > (lag->skips ? FOLLOW_LAG_CAUGHT_NS : FOLLOW_LAG_SKIP_NS);
}

#endif
