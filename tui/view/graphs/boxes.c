/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the engine for the answers of the boxes. */
#include <stdlib.h>
#include <string.h>

#include "tui/view/graphs/graphs.h"

/* Takes the numbers of a result. Returns false with `error` set. */
static bool take_result(struct flow_data *flow, struct graph_result *result,
                        struct session_error *error)
{
    flow->kind = graph_result_kind(result);
    if (flow->kind == RESULT_MEASURE) {
        flow->measure = *graph_result_measure(result);
        flow->measure.name = NULL; /* it lives only as long as the result */
        for (size_t i = 0; i < flow->measure.part_count; i++)
            flow->measure.part[i].name = NULL;
        return true;
    }
    if (flow->kind == RESULT_GROUPS) {
        struct session_group_set *groups = graph_result_groups(result);
        flow->count = session_groups_count(groups);
        return session_groups_sum(groups, MEASURE_BYTES, &flow->bytes, error);
    }
    const struct selection *selection = graph_result_selection(result);
    flow->count = selection_allocations(selection);
    flow->bytes = selection_bytes(selection);
    return true;
}

static bool run_flow(struct session *session, struct selection *selection, void *data,
                     struct session_error *error)
{
    struct flow_data *flow = data;
    struct session_error problem = {.message = ""};
    (void)selection;
    (void)error;
    flow->estimated = session_sampled(session);
    struct graph_result *result = graph_run(session, flow->request.text, &problem);
    if (!result || !take_result(flow, result, &problem))
        snprintf(flow->problem, sizeof(flow->problem), "%.100s", problem.message);
    graph_result_free(result);
    return true;
}

static void ask_flow(struct graphs *graphs, struct exploration *exploration, size_t box)
{
    static const struct load_kind kind = {sizeof(((struct flow_data *)0)->request),
                                          sizeof(struct flow_data), run_flow, NULL};
    struct flow_data *asked = calloc(1, sizeof(*asked));
    char *text = session_diagram_text(&graphs->diagram, box);
    graphs->flows[box] = NULL;
    if (asked && text && strlen(text) < FLOW_TEXT) {
        asked->request.renewals = exploration->renewals;
        snprintf(asked->request.text, FLOW_TEXT, "%s", text);
        graphs->flows[box] =
            exploration_get(exploration, &graphs->flow_loads[box], &kind, &asked->request);
    }
    free(text);
    free(asked);
}

static void forget_diagram(struct graphs *graphs)
{
    session_diagram_clear(&graphs->diagram);
    free(graphs->shown);
    graphs->shown = NULL;
}

/* Makes the diagram of a text, and selects the box that the user last worked on. */
static void draw(struct graphs *graphs, const char *text)
{
    struct session_error error = {.message = ""};
    const size_t before = graphs->diagram.count, box = graphs->box;
    forget_diagram(graphs);
    graphs->problem[0] = 0;
    graphs->wiring = NO_BOX;
    graphs->shown = strdup(text);
    if (!graphs->shown || !session_diagram_read(&graphs->diagram, text, &error)) {
        snprintf(graphs->problem, sizeof(graphs->problem), "%.190s",
                 graphs->shown ? error.message : SESSION_OUT_OF_MEMORY);
        graphs->box = 0;
        return;
    }
    graphs_lay_out(graphs);
    const size_t count = graphs->diagram.count;
    graphs->box = before == 0 || box >= count || count > before + 1 ? count - 1 : box;
    for (size_t i = 0; graphs->added && count == before + 1 && i < count; i++)
        if (session_box_inputs(&graphs->diagram.boxes[i]) > 0 &&
            graphs->diagram.boxes[i].input[0] == box)
            graphs->box = i;
    graphs->added = false;
}

void graphs_load_boxes(struct graphs *graphs, struct exploration *exploration)
{
    const char *text = exploration_wanted_filter(exploration);
    if (!graphs->shown || strcmp(graphs->shown, text) != 0) {
        for (size_t i = 0; i < graphs->diagram.count; i++)
            graphs->flows[i] = NULL;
        draw(graphs, text);
    }
    /* The result first, then from left to right. */
    for (size_t i = graphs->diagram.count; i > 0; i--)
        ask_flow(graphs, exploration, (i + graphs->diagram.count - 1) % graphs->diagram.count);
}

void graphs_clear_boxes(struct graphs *graphs, struct exploration *exploration)
{
    for (size_t i = 0; i < SESSION_BOXES_MAX; i++) {
        load_clear(&exploration->loader, &graphs->flow_loads[i]);
        graphs->flows[i] = NULL;
    }
    forget_diagram(graphs);
    graphs_clear_off(graphs);
}
