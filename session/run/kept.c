/* SPDX-License-Identifier: BSD-2-Clause */
/* What is left in arenas that a garbage collector cleans: no leak, but kept, or garbage. */
#include <stdlib.h>

#include "session/data/collected.h"
#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/run/run_state.h"

bool run_keep_survived(struct run *run, struct row_set *set)
{
    struct collected_arenas arenas;
    struct filter_program kept = {.kind = PREDICATE_TEST, .leaf = LEAF_KEPT};
    if (!run->arenas)
        return true;
    if (!collected_arenas_read(run->session, &arenas, run->error))
        return false;
    kept.kept = arenas.kept_ns;
    const bool good = arenas.count == 0 || run_keep_where(run, &kept, set);
    collected_arenas_free(&arenas);
    return good;
}

bool run_leave_out_collected(struct run *run, struct row_set *set)
{
    struct collected_arenas arenas;
    struct filter_program others = {
        .kind = PREDICATE_TEST, .leaf = LEAF_TABLE, .column = COLUMN_ARENA};
    if (!run->arenas)
        return true;
    if (!collected_arenas_read(run->session, &arenas, run->error))
        return false;
    others.table = arenas.other;
    const bool good = arenas.count == 0 || run_keep_where(run, &others, set);
    collected_arenas_free(&arenas);
    return good;
}
