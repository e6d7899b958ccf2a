/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/run/run.h"

#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/run/run_state.h"

void run_rows_free(struct run_rows *rows)
{
    row_set_free(&rows->set);
    run_sides_free(rows->sides);
    session_groups_free(rows->groups);
    *rows = (struct run_rows){.kind = KIND_ALLOCATIONS};
}

/* Copies the rows that take the place of the graph's set. */
static bool copy_begin(struct run *run, struct run_rows *rows)
{
    const struct row_set *begin = run->options->begin;
    struct row_set *set = &rows->set;
    if (!row_set_start(set, run->session->columns, false, run->error) ||
        (begin->colors && !row_set_color(set, run->error)))
        return false;
    memcpy(set->words, begin->words, (size_t)set->chunks * ROW_SET_WORDS * sizeof(*set->words));
    if (begin->colors)
        memcpy(set->colors, begin->colors, (size_t)set->chunks * COLUMN_CHUNK_ROWS);
    return true;
}

static bool run_steps(struct run *run, const struct filter_step *steps, struct run_rows *rows)
{
    bool good = true;
    for (const struct filter_step *step = steps; good && step; step = step->next)
        good = run_step(run, step, rows);
    return good;
}

/* Returns the step after which the graph's rows stay as they are, if it is a `where`. */
static const struct filter_step *last_where(const struct filter_pipeline *pipeline)
{
    const struct filter_step *last = NULL;
    for (const struct filter_step *step = pipeline->steps; step; step = step->next) {
        if (step->kind == STEP_WHERE)
            last = step;
        else if (step->kind != STEP_COLOR && step->kind != STEP_COLOR_BY &&
                 step->kind != STEP_SORT && !filter_step_measures(step->kind))
            return NULL;
    }
    return last;
}

bool run_pipeline(struct run *run, const struct filter_pipeline *pipeline, struct run_rows *rows)
{
    if (++run->pipelines > RUN_PIPELINES_MAX)
        return session_fail(run->error, 1, "more than %d pipelines to run: use fewer names",
                            RUN_PIPELINES_MAX);
    const bool leaks_unknown = run->leaks_unknown;
    struct pipeline_text text;
    const struct filter_step *keep;
    run->leaks_unknown = false;
    const struct filter_step *known = recall_find(run, pipeline, rows, &text, &keep);
    bool good = known || run_set(run, pipeline->set, rows);
    for (const struct filter_step *step = known ? known->next : pipeline->steps; good && step;
         step = step->next) {
        good = run_step(run, step, rows);
        if (good && step == keep)
            recall_keep(run, &text, rows, run->leaks_unknown);
    }
    run->leaks_unknown |= leaks_unknown;
    return good;
}

bool run_graph(struct session *session, const struct filter_graph *graph,
               const struct run_options *options, struct filter_colors *colors,
               struct run_result *result, struct session_error *error)
{
    const struct filter_pipeline *pipeline = filter_graph_pipeline(graph);
    struct session_error kept = {.column = 0};
    struct run run = {
        .session = session, .options = options, .colors = colors, .error = error ? error : &kept};
    struct run_rows rows = {.kind = KIND_ALLOCATIONS};
    *result = (struct run_result){.kind = KIND_ALLOCATIONS};
    run.last = session->estimate ? NULL : last_where(pipeline);
    run.arenas = run_mentions(pipeline, FIELD_ARENA);
    run.processes = run_mentions(pipeline, FIELD_PROCESS);
    if (!(options->begin ? copy_begin(&run, &rows) && run_steps(&run, pipeline->steps, &rows)
                         : run_pipeline(&run, pipeline, &rows))) {
        run_rows_free(&rows);
        filter_place_error(NULL, run.error);
        return false;
    }
    *result = (struct run_result){.kind = rows.kind,
                                  .set = rows.set,
                                  .sides = rows.sides,
                                  .summed = run.summed && !rows.groups,
                                  .totals = run.totals,
                                  .groups = rows.groups,
                                  .measure = rows.measure,
                                  .color_by = run.color_by,
                                  .of_all = run.processes,
                                  .of_arenas = run.arenas || options->begin,
                                  .leaks_unknown = run.leaks_unknown,
                                  .warnings = run.warnings};
    filter_place_warnings(NULL, 0, &result->warnings);
    return true;
}

void run_result_free(struct run_result *result)
{
    row_set_free(&result->set);
    run_sides_free(result->sides);
    session_groups_free(result->groups);
    *result = (struct run_result){.kind = KIND_ALLOCATIONS};
}
