/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns a trace that is still being recorded into a session that can be read at the same time.
 *
 * Every 0.4 seconds, or less often if it takes long, it replays the newly recorded events and
 * writes them as one transaction (write/follow.h). Live blocks have rows too, which the next
 * transaction replaces. The session is right for the moment that it shows, with two exceptions:
 * events of a thread that was held up come late (trace/merge.h), and the last digits of times
 * change, because the clock's rate gets more exact with time. Each state tells how far it is
 * behind, and whether the program has ended. The session is not finished when the
 * program has ended: the caller then makes the whole session again by ingest_run(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ingest/ingest.h"

/* Makes the live session. If the program executes another, or ends while other processes of its run
 * are still recorded, the session becomes that of the other trace. Returns true when no process of
 * the run is recorded any more, when the trace of a process that cannot be seen has stopped
 * growing, or when options->writer.interrupted is set. The session then exists, unfinished. False
 * with `status` set if there is no trace or the session cannot be written. */
bool ingest_follow(const struct ingest_options *options, struct ingest_status *status);

/* Tells how far a live session is behind its program, and whether it skips details to catch up.
 *
 * A session is right for the moment that it shows. While the program runs and the trace has more
 * events, the lag is the time from that moment until now. Once the program has ended, it is the
 * time from that moment to the end of the trace. A session that falls too far behind skips details
 * until it has caught up: allocations that are freed by then count in all sums, but get no row. */

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
