/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/follow_lag.h"

void live_lag_update(struct live_lag *lag, const struct live_moment *moment)
{
    uint64_t newest = moment->ended ? moment->newest_ns : moment->now_ns;
    bool all = moment->newest_ns <= moment->shown_ns;
    lag->behind_ns = all || newest <= moment->shown_ns ? 0 : newest - moment->shown_ns;
    lag->skips = lag->behind_ns > (lag->skips ? LIVE_LAG_CAUGHT_NS : LIVE_LAG_SKIP_NS);
}
