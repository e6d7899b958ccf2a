/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/sqlite/graph_refuse.h"

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/filter/tree.h"

static const struct filter_step *write_in(const struct filter_pipeline *pipeline);

static const struct filter_step *write_in_set(const struct filter_set *set)
{
    const struct filter_step *found = NULL;
    if (set && set->pipeline)
        found = write_in(set->pipeline);
    if (set && !found)
        found = write_in_set(set->left);
    return !set || found ? found : write_in_set(set->right);
}

/* Returns the first step that writes, NULL if there is none. */
static const struct filter_step *write_in(const struct filter_pipeline *pipeline)
{
    const struct filter_step *found = write_in_set(pipeline->set);
    for (const struct filter_step *step = pipeline->steps; step && !found; step = step->next)
        found = step->kind == STEP_WRITE ? step : NULL;
    return found;
}

bool graph_is_allowed(const struct session *session, const char *text, struct session_error *error)
{
    struct filter_graph *graph = filter_parse_named(text, session->graph_names, error);
    if (!graph)
        return false;
    const struct filter_step *found = write_in(filter_graph_pipeline(graph));
    if (found)
        session_fail(error, found->stored || found->column < 1 ? 1 : found->column,
                     "SQL does not run the step \"write\": use CREATE TABLE … AS SELECT, or the "
                     "shell's .output");
    filter_graph_free(graph);
    return !found;
}
