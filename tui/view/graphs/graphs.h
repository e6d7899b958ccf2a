/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of the view of graphs: the list of stored graphs, and the active filter as boxes and
 * lines. Each change of a box makes another text, which becomes the active filter; so undo and redo
 * of filters are those of the diagram, and a filter that is typed is drawn. graphs.c changes the
 * state, boxes.c asks what flows out of each box, layout.c places the boxes, render.c draws.
 */
#ifndef MPROF_TUI_VIEW_GRAPHS_GRAPHS_H
#define MPROF_TUI_VIEW_GRAPHS_GRAPHS_H

#include "session/diagram.h"
#include "session/graphs.h"
#include "session/groups.h"
#include "tui/explore/explore.h"
#include "tui/view/common/panes.h"
#include "tui/widget/table.h"

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

/* A step that the user has switched off (switch.c). */
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
    uint64_t stores; /* changes with each change of the stored graphs */
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

/* layout.c: places the boxes of the diagram. */
void graphs_lay_out(struct graphs *graphs);
/* Returns the first box that takes the output of another, the same one for the result. */
size_t graphs_consumer(const struct graphs *graphs, size_t box);
/* Returns the nearest box in a direction (ACTION_LEFT, _RIGHT, _UP, _DOWN), or the same box. */
size_t graphs_neighbour(const struct graphs *graphs, enum action direction);

/* boxes.c: makes the diagram of the active filter, and asks what flows out of its boxes. */
void graphs_load_boxes(struct graphs *graphs, struct exploration *exploration);
void graphs_clear_boxes(struct graphs *graphs, struct exploration *exploration);

/* wire.c: lines that the user draws, and boxes that are opened. The texts of changed graphs are
 * malloc()ed; NULL: there is none, and the user was told why. */
void graphs_wire_begin(struct graphs *graphs, struct exploration *exploration);
/* Chooses the input of a box that has just been selected. */
void graphs_wire_select(struct graphs *graphs);
/* Ends the line at the selected box. `*asks`: it needs an operator first. */
char *graphs_wire_end(struct graphs *graphs, struct exploration *exploration, bool *asks);
char *graphs_wire_joined(struct graphs *graphs, struct exploration *exploration, const char *text);
char *graphs_open_box(struct graphs *graphs, struct exploration *exploration);

/* switch.c: steps that are off. Returns the next one after a box from `*at` on, 0 at first; NULL if
 * there is none. It moves `*at` on. */
const char *graphs_next_off(const struct graphs *graphs, size_t box, size_t *at);
/* Switches the first of them on or, if there is none, the selected step off, and stores which of
 * both. Returns the text of the changed graph, malloc()ed; NULL: there is none, and the user was
 * told why. */
char *graphs_switch(struct graphs *graphs, struct exploration *exploration, bool *off);
/* Forgets that a step was ever off: the user deletes it. */
void graphs_forget_off(struct graphs *graphs, size_t box);
void graphs_clear_off(struct graphs *graphs);

/* list.c: the stored graphs. */
void graphs_load_list(struct graphs *graphs, struct exploration *exploration);
struct table_source graphs_list_source(const struct graphs *graphs);
const struct session_graph *graphs_selected(const struct graphs *graphs);
/* Writes "NAME(A, B)" if the graph has parameters, otherwise "NAME". Returns whether it has. */
bool graphs_use(const struct session_graph *graph, char *out, size_t size);

/* render.c */
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
void graphs_render(const void *view, const struct exploration *exploration,
                   const struct area *area);

#endif
