/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the view of graphs: the list of saved filters, and the active filter as boxes and
 * lines. Each change of a box makes another text, which becomes the active filter; so undo and redo
 * of filters are those of the diagram, and a filter that is typed is drawn. graphs.c changes the
 * state, diagram.c asks what flows out of each box, places the boxes and draws. */
#pragma once

#include "session/graphs.h"
#include "session/groups.h"
#include "tui/screen/table.h"
#include "tui/view/common/browse.h"

/* The longest text of a graph whose boxes are counted. */
#define FLOW_TEXT 4000

/* The output of a box. */
struct flow_data {
    struct {
        uint64_t renewals;
        char text[FLOW_TEXT]; /* of the graph that ends at the box, with zeros to the end */
    } request;
    enum graph_result_kind kind;
    uint64_t count, bytes; /* allocations; groups and their bytes */
    struct session_measure measure;
    bool estimated;
    char problem[120]; /* why there is no answer; "": there is one */
};

struct box_place {
    int x, y, width; /* in cells of the diagram */
};
#define BOX_HEIGHT 4
#define NO_BOX SIZE_MAX
#define BOX_GAP 4

/* A step that the user has switched off. */
struct disabled_box {
    char *before; /* text of the graph that ends where it was */
    char *text;
};
#define DISABLED_MOST 16

enum graphs_question { ASKED_ADD, ASKED_EDIT, ASKED_PAINT, ASKED_JOIN, ASKED_USE, ASKED_SAVE };

struct graphs {
    struct load list_load;
    struct session_graph *list; /* of the load's data */
    size_t list_count;
    uint64_t stores; /* changes with each change of the saved filters */
    struct table table;
    bool in_diagram; /* the diagram has the keys */

    char *shown; /* the text that the diagram is of, or NULL */
    struct session_diagram diagram;
    struct box_place places[SESSION_BOXES_MAX];
    int width, height; /* of the diagram */
    size_t box;        /* the selected one */
    size_t wiring;     /* the one from which a line is drawn; NO_BOX: none is */
    size_t pin;        /* the input of the selected box that the line would go to */
    bool dragging;     /* the mouse draws it */
    bool added;        /* a box was added after the selected one, and must be selected */
    struct load flow_loads[SESSION_BOXES_MAX];
    struct flow_data *flows[SESSION_BOXES_MAX]; /* NULL: not there yet */
    char problem[200];                          /* why there is no diagram */

    struct disabled_box disabled[DISABLED_MOST];
    size_t disabled_count;
    enum graphs_question asked;
    char rejected[FLOW_TEXT]; /* the last answer, if it did not parse */
};

/* Returns the nearest box in a direction (ACTION_LEFT, _RIGHT, _UP, _DOWN), or the same box. */
size_t graphs_neighbour(const struct graphs *graphs, enum action direction);

/* Makes the diagram of the active filter, and asks what flows out of its boxes. */
void graphs_load_boxes(struct graphs *graphs, struct browse *browse);
void graphs_clear_boxes(struct graphs *graphs, struct browse *browse);

/* Steps that are off. Returns the next one after a box from `*at` on, 0 at first; NULL if
 * there is none. It moves `*at` on. */
const char *graphs_next_off(const struct graphs *graphs, size_t box, size_t *at);
/* Forgets that a step was ever off: the user deletes it. */
void graphs_clear_off(struct graphs *graphs);

/* The saved filters. */
struct table_source graphs_list_source(const struct graphs *graphs);

struct graphs_layout {
    struct table_place list; /* height 0: not shown */
    struct table_place diagram;
};
struct graphs_layout graphs_areas(const struct graphs *graphs, int width, int height);
/* Returns the box at a position of the diagram's place, SIZE_MAX if there is none. */
size_t graphs_box_at(const struct graphs *graphs, const struct table_place *place, int x, int y);
/* Returns the input of a box with two that a row of the screen belongs to. */
size_t graphs_pin_at(const struct graphs *graphs, const struct table_place *place, size_t box,
                     int y);
void graphs_render(const void *view, const struct browse *browse, const struct area *area);
