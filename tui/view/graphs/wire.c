/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines that the user draws from the output of a box to an input of another, and boxes that the
 * user opens. The line begins at a box; while it is drawn, the keys that move choose its end.
 */
#include <stdlib.h>
#include <string.h>

#include "tui/view/graphs/graphs.h"

void graphs_wire_select(struct graphs *graphs)
{
    graphs->pin = graphs->diagram.boxes[graphs->box].kind == SESSION_BOX_COMBINE ? 1 : 0;
}

void graphs_wire_begin(struct graphs *graphs, struct exploration *exploration)
{
    graphs->wiring = graphs->box;
    graphs->pin = 0;
    exploration_say(exploration,
                    "a line: go to a box, Enter joins, I takes its other input, Esc gives up");
}

char *graphs_wire_end(struct graphs *graphs, struct exploration *exploration, bool *asks)
{
    const struct session_diagram *diagram = &graphs->diagram;
    const size_t from = graphs->wiring, to = graphs->box;
    const struct session_box *end = &diagram->boxes[to];
    *asks = false;
    if (from == to) {
        exploration_complain(exploration, "a line goes to another box");
        return NULL;
    }
    if (end->kind == SESSION_BOX_SET) {
        *asks = true; /* it has no input: an operator joins both */
        return NULL;
    }
    if (session_diagram_circles(diagram, from, to)) {
        exploration_complain(exploration, "that line would close a circle: %.60s feeds %.60s",
                             end->text, diagram->boxes[from].text);
        return NULL;
    }
    graphs->wiring = NO_BOX;
    return session_diagram_wired(diagram, from, to, graphs->pin);
}

char *graphs_wire_joined(struct graphs *graphs, struct exploration *exploration, const char *text)
{
    const size_t from = graphs->wiring;
    graphs->wiring = NO_BOX;
    if (from >= graphs->diagram.count)
        return NULL;
    if (strlen(text) != 1 || !strchr("+-&", *text)) {
        exploration_complain(exploration,
                             "expected + (both), - (the first without the second) or & "
                             "(what both have)");
        return NULL;
    }
    return session_diagram_joined(&graphs->diagram, from, graphs->box, *text);
}

char *graphs_open_box(struct graphs *graphs, struct exploration *exploration)
{
    const struct session_diagram *diagram = &graphs->diagram;
    struct session_graph graph = {.name = NULL};
    struct session_error error = {.message = ""};
    char name[SESSION_GRAPH_NAME_MAX + 1];
    if (!session_diagram_name(diagram, graphs->box, name, sizeof(name))) {
        exploration_complain(exploration, "only a graph that is used by its name opens");
        return NULL;
    }
    const bool own = session_diagram_defines(diagram, name);
    if (!own && !session_graph_find(exploration->session, name, &graph, &error)) {
        exploration_complain(exploration, "%s", error.message);
        return NULL;
    }
    char *text = session_diagram_opened(diagram, graphs->box, own ? NULL : graph.text, &error);
    if (!own)
        session_graph_clear(&graph);
    if (!text)
        exploration_complain(exploration, "\"%s\" does not open: %s", name, error.message);
    return text;
}
