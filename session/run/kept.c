/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the blocks that are left in arenas with a garbage collector: they are not leaks, but kept,
 * or garbage. */
#include "session/data/collected.h"
#include "session/run/run_state.h"

/* Keeps what the program selects. `others`: in arenas that no collector cleans, by the table;
 * otherwise by the time at which the last collection of each began. */
static bool keep(struct run *run, struct filter_program program, bool others, struct row_set *set)
{
    struct collected_arenas arenas;
    if (!run->arenas)
        return true;
    if (!collected_arenas_read(run->session, &arenas, run->error))
        return false;
    if (others)
        program.table = arenas.other;
    else
        program.kept = &arenas;
    const bool good = arenas.count == 0 || run_keep_where(run, &program, set);
    collected_arenas_free(&arenas);
    return good;
}

bool run_keep_survived(struct run *run, struct row_set *set)
{
    return keep(run, (struct filter_program){.kind = PREDICATE_TEST, .leaf = LEAF_KEPT}, false,
                set);
}

bool run_leave_out_collected(struct run *run, struct row_set *set)
{
    return keep(
        run,
        (struct filter_program){.kind = PREDICATE_TEST, .leaf = LEAF_TABLE, .column = COLUMN_ARENA},
        true, set);
}
