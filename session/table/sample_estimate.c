/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/table/sample_estimate.h"

#include <math.h>
#include <stdlib.h>

#include "session/store/error.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"
#include "session/table/run.h"

/* ---- the sample as a session ---- */

/* Lends the state of the session to the sample, which has its own rows. */
static void lend(struct session *sample, const struct session *session)
{
    const struct session own = *sample;
    *sample = *session;
    sample->columns = own.columns;
    sample->reader = own.reader;
    sample->scan = own.scan;
    sample->spare = own.spare;
    sample->recalled = own.recalled;
    sample->live = NULL;
    sample->kept = NULL;
    sample->sample = NULL;
    sample->processes.selected = 0; /* ids of processes are not those of the sample's rows */
}

/* Takes back what a run may have loaded. */
static void take_back(struct session *session, const struct session *sample)
{
    session->stacks = sample->stacks;
    session->names.pool = sample->names.pool;
    session->user = sample->user;
    session->residencies = sample->residencies;
    session->graph_names = sample->graph_names;
}

/* ---- graphs that a sample can answer ---- */

enum { PIPELINES_MOST = 100 };

static bool predicate_fits(const struct filter_predicate *predicate)
{
    if (!predicate)
        return true;
    if (predicate->kind == PREDICATE_TEST)
        return predicate->test.field != FIELD_ID && !filter_field_found(predicate->test.field);
    return predicate_fits(predicate->left) && predicate_fits(predicate->right);
}

static bool set_fits(const struct filter_set *set, unsigned *pipelines);

/* Returns true if a pipeline looks at each row alone. */
static bool pipeline_fits(const struct filter_pipeline *pipeline, unsigned *pipelines)
{
    if (++*pipelines > PIPELINES_MOST)
        return false;
    for (const struct filter_step *step = pipeline->steps; step; step = step->next) {
        const bool alone = step->kind == STEP_WHERE || step->kind == STEP_COLOR ||
                           step->kind == STEP_COLOR_BY || step->kind == STEP_SORT;
        if (!alone || !predicate_fits(step->predicate))
            return false;
    }
    return set_fits(pipeline->set, pipelines);
}

static bool set_fits(const struct filter_set *set, unsigned *pipelines)
{
    switch (set->kind) {
    case SET_ALL:
    case SET_LIVE_AT:
    case SET_LEAKED:
        return true;
    case SET_PIPELINE:
        return pipeline_fits(set->pipeline, pipelines);
    case SET_PLUS:
    case SET_MINUS:
    case SET_BOTH:
        return set_fits(set->left, pipelines) && set_fits(set->right, pipelines);
    default:
        return false;
    }
}

/* ---- sums ---- */

struct sums {
    double allocations, bytes, live_count, live_bytes;
    double allocations_variance, bytes_variance, live_count_variance, live_bytes_variance;
    uint64_t rows;
};

/* A row of weight w was chosen with probability 1 / w: its part in the variance of a sum of x is
 * x * x * w * (w - 1) (Horvitz and Thompson, 1952). */
static void add_rows(void *context, const struct chunk_rows *rows)
{
    struct sums *sums = context;
    ROW_SET_EACH(rows->words, row)
    {
        const double weight = (double)column_view_at(&rows->views[COLUMN_WEIGHT], row) / 65536;
        const double size = (double)column_view_at(&rows->views[COLUMN_SIZE], row);
        const double spread = weight * (weight - 1);
        sums->rows++;
        sums->allocations += weight;
        sums->allocations_variance += spread;
        sums->bytes += weight * size;
        sums->bytes_variance += spread * size * size;
        if (column_view_at(&rows->views[COLUMN_LIFE_NS], row) != 0)
            continue;
        sums->live_count += weight;
        sums->live_count_variance += spread;
        sums->live_bytes += weight * size;
        sums->live_bytes_variance += spread * size * size;
    }
}

static bool sum_up(struct session *sample, const struct filter_graph *graph, struct sums *sums,
                   struct session_error *error)
{
    struct filter_colors *colors = calloc(1, sizeof(*colors));
    struct run_result result = {.groups = NULL};
    if (!colors)
        return session_fail_memory(error, "an estimate");
    /* An estimate opens no other session. */
    const struct run_options options = {.open = NULL};
    bool good = run_graph(sample, graph, &options, colors, &result, error);
    if (good) {
        good = scan_in_order(sample, &result.set,
                             COLUMN_BIT(COLUMN_WEIGHT) | COLUMN_BIT(COLUMN_SIZE) |
                                 COLUMN_BIT(COLUMN_LIFE_NS),
                             add_rows, sums, error);
        run_result_free(&result);
    }
    free(colors);
    return good;
}

bool selection_estimate(struct session *session, const char *text,
                        struct selection_estimate *estimate, bool *known,
                        struct session_error *error)
{
    struct sums sums = {.rows = 0};
    unsigned pipelines = 0;
    *known = false;
    if (session->estimate || (session->processes.selected != 0 && session->processes.count > 1))
        return true;
    struct filter_graph *graph = filter_parse_named(text, session->graph_names, error);
    if (!graph)
        return false;
    bool good = true;
    if (pipeline_fits(filter_graph_pipeline(graph), &pipelines) && session_sample(session)) {
        lend(session->sample, session);
        good = sum_up(session->sample, graph, &sums, error);
        take_back(session, session->sample);
        *known = good;
    }
    filter_graph_free(graph);
    *estimate = (struct selection_estimate){
        .allocations = (uint64_t)(sums.allocations + 0.5),
        .bytes = (uint64_t)(sums.bytes + 0.5),
        .live_count = (uint64_t)(sums.live_count + 0.5),
        .live_bytes = (uint64_t)(sums.live_bytes + 0.5),
        .allocations_error = sqrt(sums.allocations_variance),
        .bytes_error = sqrt(sums.bytes_variance),
        .live_count_error = sqrt(sums.live_count_variance),
        .live_bytes_error = sqrt(sums.live_bytes_variance),
        .rows = sums.rows,
    };
    return good;
}
