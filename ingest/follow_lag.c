/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/follow_lag.h"

void follow_lag_update(struct follow_lag *lag, const struct follow_moment *moment)
{
    uint64_t newest = moment->ended ? moment->newest_ns : moment->now_ns;
    bool all = moment->newest_ns <= moment->shown_ns;
    lag->behind_ns = all || newest <= moment->shown_ns ? 0 : newest - moment->shown_ns;
    lag->skips = lag->behind_ns > (lag->skips ? FOLLOW_LAG_CAUGHT_NS : FOLLOW_LAG_SKIP_NS);
}
