/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the tree view, shared by its files. */
#pragma once

#include "schemas/code/short_name.h"
#include "session/tree.h"
#include "tui/view/view.h"

enum tree_shape { SHAPE_ROWS, SHAPE_FLAME, SHAPE_ICICLE, SHAPES };

/* The tree that is asked for, as loads compare it. */
struct tree_request {
    uint64_t selections, from_ns, to_ns, moment_ns;
    uint32_t bottom_up, hide, fold, growth;
};

enum tree_task {
    TASK_EXPAND,
    TASK_HOTTEST,
    TASK_FOCUS, /* opens the hottest path below the focus, and selects nothing */
    TASK_FIND,
    TASK_FOLLOW,
    TASK_FLAME,
    TASK_WRAPPER
};

enum { TREE_PATH_MAX = 64, TREE_TEST_SIZE = 60000 };

/* The place of a node, for another tree: its path from the root and, should that have more or fewer
 * frames there, its function on the path of a stack. */
struct tree_place {
    uint32_t path[TREE_PATH_MAX], count; /* 0: nowhere */
    uint32_t stack, function, nth;       /* as session_tree_follow_stack() */
};

/* A task for the engine on the nodes of a tree. */
struct tree_task_request {
    uint64_t serial;
    struct session_tree *tree; /* a share of the task's own */
    int64_t least;
    uint32_t task, node, within, backward, measure, descending, levels;
    struct tree_place selected, focus; /* to be followed */
    char text[256];
};

struct tree_view {
    struct load tree_load, task_load, test_load, short_load;
    bool bottom_up, hide, fold;
    /* The tree on the screen: a share of it, or NULL. */
    struct session_tree *tree;
    struct tree_request request; /* what it is an answer to */
    uint64_t serial;             /* of tasks */
    struct tree_task_request task;
    bool busy;     /* the task has no answer yet */
    uint8_t *open; /* by node: its children are shown */
    size_t open_size;
    uint32_t *rows; /* nodes, from above to below */
    size_t count, capacity;
    uint32_t focus; /* only what lies below it is shown; 0: everything */
    struct table table;
    char search[200];
    /* In the tree before. */
    struct tree_place was_selected, was_focus;
    bool was_bottom_up;
    char lost[SHORT_NAME_SIZE]; /* the name of that focus; "": there was none */
    /* The test that selects the allocations of a node. */
    uint32_t tested, testing; /* the node of `test`, the one that is asked about; 0: none */
    bool exact;
    char *test;     /* NULL or "": there is none */
    char *on_stack; /* the test for the stacks with its function and no other one of its name, if
                     * there is such a one, or NULL */
    bool list_soon; /* its allocations are to be listed as soon as it has come */
    uint64_t test_serial, short_serial;
    enum tree_shape shape;
    struct tree_boxes {
        const struct session_tree *tree;
        uint32_t focus, measure;
        int width, height;
    } boxes;          /* whose nodes were asked for */
    bool short_known; /* when the rows were sorted */
    int width;        /* of the area */
};

enum tree_column {
    TREE_COLUMN_AT_PEAK,
    TREE_COLUMN_GROWTH,
    TREE_COLUMN_BYTES,
    TREE_COLUMN_COUNT,
    TREE_COLUMN_LIVE,
    TREE_COLUMN_RESIDENT,
    TREE_COLUMN_SHORT,
    TREE_COLUMN_NAME,
    TREE_COLUMN_PLACE,
    TREE_COLUMNS
};

/* The data for the callbacks of a table. */
struct tree_rows {
    const struct tree_view *view;
    const struct browse *browse;
};
struct table_source tree_source(struct tree_rows *rows);
/* Returns the order of siblings that the table shows. */
struct session_tree_order tree_order(const struct tree_view *view);
/* Makes the rows again after a change of order, focus or open nodes. The selected node stays. */
void tree_rows_make(struct tree_view *view);
/* Returns the selected node, 0: none. */
uint32_t tree_selected(const struct tree_view *view);
/* Selects a node and opens what lies above it. */
void tree_select(struct tree_view *view, uint32_t node);
bool tree_is_open(const struct tree_view *view, uint32_t node);
void tree_set_open(struct tree_view *view, uint32_t node, bool open);
/* Writes the name of a node as a row shows it, without its place in the tree. */
void tree_label(const struct tree_view *view, const struct session *session, uint32_t node,
                char *out, size_t size);

/* Writes the line that calls a node, as "file.c:12". Returns false if none is known. */
bool tree_call_text(const struct tree_view *view, uint32_t node, char *out, size_t size);

/* Asks for the tree of the present settings and takes it. Returns true if it is another one. */
bool tree_load(struct tree_view *view, struct browse *browse);
/* Gives the engine a task; view->task has its particulars. Takes the answer when it is there. */
void tree_begin_task(struct tree_view *view, struct browse *browse, enum tree_task task);
void tree_take_task(struct tree_view *view, struct browse *browse);
/* Asks for what can wait: the test of the selected node and what it has besides its children, the
 * share of short-lived blocks. */
void tree_load_rest(struct tree_view *view, struct browse *browse);
/* Shows the allocations of the selected node, or does so when its test has come. */
void tree_list(struct tree_view *view, struct browse *browse);
void tree_drop(struct tree_view *view, struct browse *browse);

struct tree_layout {
    struct table_place table; /* or the boxes */
    int details;              /* the first row of the details; -1: there is no room */
};
struct tree_layout tree_lay_out(int width, int height);
void tree_render(const void *view, const struct browse *browse, const struct area *area);

/* Asks for the nodes that are wide enough to be seen. */
void tree_flame_load(struct tree_view *view, struct browse *browse,
                     const struct table_place *place);
/* Returns the node at a position, 0: none. */
uint32_t tree_flame_at(const struct tree_view *view, const struct table_place *place, int x, int y);
/* Returns the node that an arrow leads to from the selected one. */
uint32_t tree_flame_beside(const struct tree_view *view, enum action action);

/* Keeps the order of the rows, as view_ops.order. */
bool tree_keep_order(void *view, struct table_order *order, bool set);
