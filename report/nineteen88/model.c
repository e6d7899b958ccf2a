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

bool model_add_call(struct model *model, uint32_t caller, uint32_t function, uint32_t frame,
                    uint32_t within, uint32_t *call)
{
    if (model->call_count == UINT32_MAX ||
        !array_grow(&model->calls, &model->call_capacity, (size_t)model->call_count + 1,
                    sizeof(*model->calls)))
        return false;
    *call = model->call_count++;
    model->calls[*call] = (struct call){.caller = caller,
                                        .function = function,
                                        .frame = frame,
                                        .within = within,
                                        .depth = caller == 0 ? 1 : model->calls[caller].depth + 1};
    return true;
}

bool model_has(const struct model *model, uint32_t call)
{
    return model->calls[call].used && !model->starts[model->calls[call].function];
}

uint32_t model_caller(const struct model *model, uint32_t call)
{
    const uint32_t caller = model->calls[call].caller;
    return caller != 0 && model_has(model, caller) ? caller : 0;
}

/* Makes a call of each node outward of the sites. `call_of` has 0 for the others, by node. */
static bool read_calls(struct model *model, const uint32_t *sites, uint32_t *call_of,
                       struct session_error *error)
{
    const uint32_t nodes = session_stack_nodes(model->session);
    uint32_t none;
    for (size_t i = 0; i < model->count; i++)
        call_of[sites[model->chains[i].stack]] = 1;
    for (uint32_t node = 1; node <= nodes; node++)
        if (call_of[node] != 0)
            call_of[session_stack_node(model->session, node).caller] = 1;
    /* The first one stands for no caller, the second one for stacks without frames. */
    if (!model_add_call(model, 0, 0, 0, 0, &none) ||
        !model_add_call(model, 0, 0, 0, 0, &call_of[0]))
        return report_fail_memory(error, "the stacks");
    for (uint32_t node = nodes; node > 0; node--) {
        const struct session_stack_node at = session_stack_node(model->session, node);
        const uint32_t caller = at.caller == 0 ? 0 : call_of[at.caller];
        struct session_code_frame frame;
        if (call_of[node] == 0)
            continue;
        if (!session_code_frame(model->session, at.frame, &frame, error))
            return false;
        const uint32_t function = frame.function <= model->function_count ? frame.function : 0;
        const uint32_t within = !frame.inlined ? function : model->calls[caller].within;
        if (!model_add_call(model, caller, function, at.frame, within, &call_of[node]))
            return report_fail_memory(error, "the stacks");
    }
    return true;
}

static void mark_used(struct model *model)
{
    for (size_t i = 0; i < model->count; i++) {
        struct chain *chain = &model->chains[i];
        chain->depth = model->calls[chain->call].depth;
        chain->whole = strcmp(session_stack_state(model->session, chain->stack), "complete") == 0;
        model->calls[chain->call].used = true;
    }
    for (uint32_t call = model->call_count; call-- > 1;)
        if (model->calls[call].used && model->calls[call].caller != 0)
            model->calls[model->calls[call].caller].used = true;
}

static bool read_chains(struct model *model, struct session_error *error)
{
    uint32_t *sites = NULL;
    uint32_t *call_of = calloc((size_t)session_stack_nodes(model->session) + 1, sizeof(*call_of));
    bool good = call_of || report_fail_memory(error, "the stacks");
    good = good && session_stack_sites(model->session, &sites, error) &&
           read_calls(model, sites, call_of, error);
    for (size_t i = 0; good && i < model->count; i++)
        model->chains[i].call = call_of[sites[model->chains[i].stack]];
    free(sites);
    free(call_of);
    if (!good || !scripts_cut(model, error))
        return false;
    mark_used(model);
    return starts_cut(model, error);
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
    free(model->calls);
    free(model->starts);
}
