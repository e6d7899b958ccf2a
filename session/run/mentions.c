/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the fields that a graph tests or joins: some widen its sets. */
#include "session/run/run_state.h"

static bool predicate_mentions(const struct filter_predicate *predicate, enum filter_field field)
{
    if (!predicate)
        return false;
    if (predicate->kind == PREDICATE_TEST)
        return predicate->test.field == field;
    return predicate_mentions(predicate->left, field) ||
           predicate_mentions(predicate->right, field);
}

static bool set_mentions(const struct filter_set *set, enum filter_field field,
                         unsigned *pipelines);

/* Visits at most RUN_PIPELINES_MAX pipelines: with more the filter does not run. */
static bool pipeline_mentions(const struct filter_pipeline *pipeline, enum filter_field field,
                              unsigned *pipelines)
{
    if (++*pipelines > RUN_PIPELINES_MAX)
        return true;
    for (const struct filter_step *step = pipeline->steps; step; step = step->next) {
        if (predicate_mentions(step->predicate, field))
            return true;
        for (size_t i = 0; i < step->key_count; i++) {
            if (step->keys[i].field == field)
                return true;
        }
    }
    return set_mentions(pipeline->set, field, pipelines);
}

static bool set_mentions(const struct filter_set *set, enum filter_field field, unsigned *pipelines)
{
    if (set->kind == SET_ALL || set->kind == SET_LIVE_AT || set->kind == SET_LEAKED ||
        set->kind == SET_OUTLIVED || set->kind == SET_SURVIVED || set->kind == SET_SESSION)
        return false;
    if (set->kind == SET_PIPELINE)
        return pipeline_mentions(set->pipeline, field, pipelines);
    return set_mentions(set->left, field, pipelines) || set_mentions(set->right, field, pipelines);
}

bool run_mentions(const struct filter_pipeline *pipeline, enum filter_field field)
{
    unsigned pipelines = 0;
    return pipeline_mentions(pipeline, field, &pipelines);
}
