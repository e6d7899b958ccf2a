/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes the sets of a graph: the rows that its steps begin with. */
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/run/run_state.h"

/*
 * Starts with all rows that the filter may select. The memory of custom allocators comes from the
 * process heap and is counted there, so only filters that test arenas see their blocks. Only
 * filters that test processes see the blocks of processes other than the selected one.
 */
static bool start_set(struct run *run, struct row_set *set)
{
    const struct filter_program heap = {
        .kind = PREDICATE_TEST, .leaf = LEAF_RANGE, .column = COLUMN_ARENA};
    if (!row_set_start(set, run->session->columns, true, run->error))
        return false;
    for (uint32_t chunk = 0; !run->processes && chunk < set->chunks; chunk++)
        processes_mask(run->session, chunk, row_set_chunk(set, chunk));
    return run->arenas || run_keep_where(run, &heap, set);
}

static bool run_live_at(struct run *run, const struct filter_value *moment, struct row_set *set)
{
    struct filter_live live;
    if (!filter_live_time(run->session, moment, &live, run->error))
        return false;
    if (live.time.before)
        filter_warn(&run->warnings, moment->column,
                    "this time lies before the start: nothing was live");
    else if (live.time.ns > run->session->duration_ns)
        filter_warn(&run->warnings, moment->column,
                    "the recording ended %.6g s after its start, before this time: what is live "
                    "then is what was never freed",
                    (double)run->session->duration_ns / 1e9);
    const struct filter_program program = filter_live_program(&live);
    return start_set(run, set) && run_keep_where(run, &program, set);
}

/* Removes the blocks that the runtime keeps to the end on purpose: they are not leaks. */
static bool leave_out_runtime(struct run *run, struct row_set *set)
{
    const struct stacks *stacks = &run->session->stacks;
    struct filter_program own = {
        .kind = PREDICATE_TEST, .leaf = LEAF_TABLE, .column = COLUMN_STACK};
    own.table = calloc(stacks->count, 1);
    if (!own.table)
        return session_fail_memory(run->error, "the filter");
    for (uint32_t stack = 0; stack < stacks->count; stack++)
        own.table[stack] = !stacks->runtime[stack];
    bool good = run_keep_where(run, &own, set);
    free(own.table);
    return good;
}

/* Moves an error within a stored graph to the place of its use. */
static bool run_use(struct run *run, const struct filter_set *source, struct run_rows *rows)
{
    struct session_error inner = {.column = 0};
    struct session_error *outer = run->error;
    if (!source->stored || !outer)
        return run_pipeline(run, source->pipeline, rows);
    const size_t warned = run->warnings.count;
    run->error = &inner;
    bool good = run_pipeline(run, source->pipeline, rows);
    run->error = outer;
    filter_place_warnings(source->stored, warned, &run->warnings);
    if (!good) {
        if (inner.column != 0)
            filter_place_error(source->stored, &inner);
        *outer = inner;
    }
    return good;
}

bool run_set(struct run *run, const struct filter_set *source, struct run_rows *rows)
{
    struct run_rows right = {.kind = KIND_ALLOCATIONS};
    switch (source->kind) {
    case SET_ALL:
        return start_set(run, &rows->set);
    case SET_LIVE_AT:
        return run_live_at(run, &source->moment, &rows->set);
    case SET_LEAKED:
        run->leaks_unknown |= session_stopped(run->session);
        return run_live_at(run, &source->moment, &rows->set) &&
               leave_out_runtime(run, &rows->set) && run_leave_out_collected(run, &rows->set);
    case SET_SURVIVED:
        return run_live_at(run, &source->moment, &rows->set) && run_keep_survived(run, &rows->set);
    case SET_OUTLIVED:
        return start_set(run, &rows->set) && run_keep_outlived(run, &rows->set);
    case SET_PIPELINE:
        return run_use(run, source, rows);
    case SET_SESSION:
        return run_other_session(run, source, rows);
    default:
        break;
    }
    bool good = run_set(run, source->left, rows) && run_set(run, source->right, &right) &&
                run_combine(run, source->kind, rows, &right);
    run_rows_free(&right);
    return good;
}
