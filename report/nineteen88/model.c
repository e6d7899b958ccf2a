/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/nineteen88/model.h"

#include <stdlib.h>
#include <string.h>

#include "report/nineteen88/scripts.h"
#include "report/nineteen88/starts.h"
#include "schemas/array.h"
#include "session/code_facts.h"
#include "session/leaks.h"
#include "session/stacks.h"

/* The sentences of the classes of size. */
static const char *const classes[SIZE_CLASSES] = {"| where size <= 32", "| where size in 33..256",
                                                  "| where size in 257..2048",
                                                  "| where size > 2048"};

void class_sums_add(struct class_sums *to, const struct class_sums *sums)
{
    to->allocations += sums->allocations;
    to->bytes += sums->bytes;
    to->kept_count += sums->kept_count;
    to->kept_bytes += sums->kept_bytes;
}

const char *model_name(const struct model *model, uint32_t function)
{
    return session_function_name(model->session, function);
}

/* ---- sums ------------------------------------------------------------------------------- */

/* Adds what the rows of one class kept. Their stacks have chains already. */
static void add_kept(struct model *model, int class, const struct session_stack_sums *rows,
                     size_t count, const size_t *places)
{
    for (size_t i = 0; i < count; i++) {
        const struct class_sums sums = {.kept_count = rows[i].allocations,
                                        .kept_bytes = rows[i].bytes};
        const size_t place = places[rows[i].stack];
        if (place == 0)
            continue;
        class_sums_add(&model->chains[place - 1].sums[class], &sums);
        class_sums_add(&model->chains[place - 1].all, &sums);
        class_sums_add(&model->all, &sums);
    }
}

/* Adds the rows of one class. `places` has the chain of each stack, from 1; 0: none yet. */
static bool add_rows(struct model *model, int class, const struct session_stack_sums *rows,
                     size_t count, size_t *places, struct session_error *error)
{
    struct chain *chains = realloc(model->chains, (model->count + count + 1) * sizeof(*chains));
    if (!chains)
        return report_fail_memory(error, "the stacks");
    model->chains = chains;
    for (size_t i = 0; i < count; i++) {
        const struct class_sums sums = {rows[i].allocations, rows[i].bytes,
                                        model->collected ? 0 : rows[i].live_count,
                                        model->collected ? 0 : rows[i].live_bytes};
        size_t *place = &places[rows[i].stack];
        if (*place == 0) {
            chains[model->count++] = (struct chain){.stack = rows[i].stack};
            *place = model->count;
        }
        chains[*place - 1].sums[class] = sums;
        class_sums_add(&chains[*place - 1].all, &sums);
        class_sums_add(&model->all, &sums);
    }
    return true;
}

/* Reads the sums of a class's stacks; `set` narrows them, NULL: all. The caller frees `*rows`. */
static bool read_sums(const struct model *model, int class, const char *set,
                      struct session_stack_sums **rows, size_t *count, struct session_error *error)
{
    static const struct session_stacks_options options = {.without_short = true};
    struct graph_result *result =
        request_run(model->request, model->session, set, classes[class], error);
    bool good =
        result && selection_stacks(graph_result_selection(result), &options, rows, count, error);
    graph_result_free(result);
    return good;
}

static bool read_class(struct model *model, int class, size_t *places, struct session_error *error)
{
    struct session_stack_sums *rows = NULL, *kept = NULL;
    size_t count = 0, kept_count = 0;
    bool good = read_sums(model, class, NULL, &rows, &count, error) &&
                add_rows(model, class, rows, count, places, error);
    if (good && model->collected) {
        good = read_sums(model, class, "survived", &kept, &kept_count, error);
        if (good)
            add_kept(model, class, kept, kept_count, places);
    }
    free(rows);
    free(kept);
    return good;
}

/* Finds out if what is live lies in an arena that a collector cleans. In a rotated trace it may
 * have taken blocks before the trace only. */
static bool find_collected_before(struct model *model, struct session_error *error)
{
    struct graph_result *live = request_run(model->request, model->session, "live", NULL, error);
    struct session_leaks leaks;
    const bool good = live && selection_leaks(graph_result_selection(live), NULL, &leaks, error);
    for (size_t i = 0; good && i < leaks.count; i++)
        if (leaks.leaks[i].kind == SESSION_LEAK_RUNTIME &&
            strcmp(leaks.leaks[i].why, "garbage collector") == 0)
            model->collected = true;
    if (good)
        session_leaks_free(&leaks);
    graph_result_free(live);
    return good;
}

/* Finds out if a garbage collector cleans arenas of the selection. */
static bool find_collected(struct model *model, struct session_error *error)
{
    struct session_measure taken;
    bool any;
    if (!session_has_collected(model->session, &any, error))
        return false;
    if (!any)
        return true;
    if (!request_measure(model->request, model->session, NULL, "| where collected == true | count",
                         &taken, error))
        return false;
    model->collected = taken.value > 0;
    return model->collected || find_collected_before(model, error);
}

/* ---- chains ----------------------------------------------------------------------------- */

/* Makes room for `more` functions, and for what is beside them. */
static bool grow(struct model *model, size_t more)
{
    size_t frames = model->capacity, within = model->capacity;
    return array_grow(&model->frames, &frames, model->length + more, sizeof(*model->frames)) &&
           array_grow(&model->within, &within, model->length + more, sizeof(*model->within)) &&
           array_grow(&model->functions, &model->capacity, model->length + more,
                      sizeof(*model->functions));
}

/* Reads the frames of a stack from the call site outward into the lists. */
static bool read_chain(struct model *model, struct chain *chain, struct session_error *error)
{
    const uint32_t *frames = NULL;
    size_t count = 0;
    if (chain->stack != 0 &&
        !session_stack_frames(model->session, chain->stack, &frames, &count, error))
        return false;
    const size_t site = session_stack_call_site(model->session, chain->stack);
    /* The getter above may have moved the frames. */
    if (chain->stack != 0 &&
        !session_stack_frames(model->session, chain->stack, &frames, &count, error))
        return false;
    if (!grow(model, count + 1))
        return report_fail_memory(error, "the stacks");
    chain->first = model->length;
    uint32_t within = 0;
    for (size_t i = count; i-- > site;) {
        const size_t place = model->length + (i - site);
        struct session_code_frame frame;
        if (!session_code_frame(model->session, frames[i], &frame, error))
            return false;
        const uint32_t function = frame.function <= model->function_count ? frame.function : 0;
        if (!frame.inlined)
            within = function;
        model->functions[place] = function;
        model->frames[place] = frames[i];
        model->within[place] = within;
    }
    model->length += count > site ? count - site : 0;
    if (model->length == chain->first) {
        model->functions[model->length] = model->within[model->length] = 0;
        model->frames[model->length++] = 0;
    }
    chain->depth = model->length - chain->first;
    chain->whole = strcmp(session_stack_state(model->session, chain->stack), "complete") == 0;
    return true;
}

static bool read_chains(struct model *model, struct session_error *error)
{
    for (size_t i = 0; i < model->count; i++)
        if (!read_chain(model, &model->chains[i], error))
            return false;
    return scripts_cut(model, error) && starts_cut(model, error);
}

bool model_read(struct model *model, const struct report_request *request,
                struct session_error *error)
{
    *model = (struct model){.session = request->session,
                            .request = request,
                            .estimated = session_sampled(request->session),
                            .function_count = session_function_count(request->session)};
    if (!session_load_stacks(model->session, error) || !find_collected(model, error))
        return false;
    size_t *places = calloc((size_t)session_stack_largest(model->session) + 1, sizeof(*places));
    if (!places)
        return report_fail_memory(error, "the stacks");
    bool good = true;
    for (int i = 0; good && i < SIZE_CLASSES; i++)
        good = read_class(model, i, places, error);
    free(places);
    return good && read_chains(model, error);
}

void model_free(struct model *model)
{
    free(model->chains);
    free(model->functions);
    free(model->frames);
    free(model->within);
    free(model->starts);
}
