/* SPDX-License-Identifier: BSD-2-Clause */
/* The actions that a user asks for, independent of keys, and the views that they are for. */
#pragma once

#include <stdbool.h>

/* ---- views ------------------------------------------------------------------------------- */

/* The numbers of the views. The first ones have a key of their own; the menu of views, or a name,
 * leads to the others. */

enum view_number {
    VIEW_OVERVIEW,
    VIEW_TIMELINE,
    VIEW_MEMORY,
    VIEW_TREE,
    VIEW_FUNCTIONS,
    VIEW_TYPES,
    VIEW_LEAKS,
    VIEW_ALLOCATIONS,
    VIEW_SIZES,
    VIEW_RSS,
    VIEW_RETAINED,
    VIEW_LIFETIMES,
    VIEW_THREADS,
    VIEW_ARENAS,
    VIEW_SOURCE,
    VIEW_DIFF,
    VIEW_GRAPHS,
    VIEW_SQL,
    VIEW_DETAIL,
    VIEWS,
    VIEW_SAME = VIEWS, /* as a request: stay */
};
/* The keys of the views that have one, and those of all views in the menu of views. */
#define VIEW_KEYS "123456789RK"
#define VIEW_MENU_KEYS VIEW_KEYS "LTASDGQE"
enum { VIEW_KEYED = sizeof(VIEW_KEYS) - 1 };

/* Sets of views, for the bindings that views share. */
#define IN(view) (1u << (view))
enum view_set {
    IN_ALL = IN(VIEWS) - 1,
    /* The views whose main part is a table or an outline of rows. */
    IN_LISTS = IN_ALL & ~(IN(VIEW_TIMELINE) | IN(VIEW_MEMORY)),
    /* Those that sort their rows. */
    IN_SORTED = IN_LISTS & ~(IN(VIEW_OVERVIEW) | IN(VIEW_SOURCE) | IN(VIEW_DETAIL) |
                             IN(VIEW_GRAPHS) | IN(VIEW_RSS)),
    /* Those that show categories in colours. */
    IN_COLORED = IN(VIEW_TIMELINE) | IN(VIEW_MEMORY),
};

/* ---- actions ----------------------------------------------------------------------------- */

/* The actions that a user asks for, independent of keys. */

enum action {
    ACTION_NONE,
    ACTION_REFRESH, /* no key: size, filter or colouring changed; load the missing data */

    ACTION_LEFT,
    ACTION_RIGHT,
    ACTION_UP,
    ACTION_DOWN,
    ACTION_PAGE_UP,
    ACTION_PAGE_DOWN,
    ACTION_HOME,
    ACTION_END,
    ACTION_FOLLOW, /* Enter: show the parts of the selected number */
    ACTION_BACK,
    ACTION_NEXT_PANE,
    ACTION_PREVIOUS_PANE,

    ACTION_ZOOM_IN,
    ACTION_ZOOM_OUT,
    ACTION_ZOOM_ALL,
    ACTION_PAN_LEFT,
    ACTION_PAN_RIGHT,
    ACTION_STEP_BACK, /* in time */
    ACTION_STEP_FORWARD,
    ACTION_PLAY, /* through time, and stop */
    ACTION_SLOWER,
    ACTION_FASTER,
    ACTION_RANGE,        /* begin a range, or end it */
    ACTION_DIFF,         /* of the range */
    ACTION_STACK_BY,     /* menu: what lies one above the other; comes again with a text */
    ACTION_COMPRESS,     /* idle gaps of time, and back */
    ACTION_SECTION_BACK, /* region */
    ACTION_SECTION_FORWARD,
    ACTION_PEAK,
    ACTION_MODE,      /* the next way to measure or show the same things */
    ACTION_HOLES,     /* the list of holes, and back */
    ACTION_OVER_TIME, /* what is shown over time, and back; of one allocation: the timeline */

    ACTION_ALTERNATE,
    ACTION_BY_TYPE, /* rows of another subject */
    ACTION_BY_SITE,
    ACTION_BY_USER,
    ACTION_MEMBERS, /* of a type, instead of the stack */
    ACTION_SORT,
    ACTION_SORT_LEFT,
    ACTION_SORT_RIGHT,
    ACTION_SORT_REVERSE,

    ACTION_EXPAND_HOTTEST,
    ACTION_FOCUS,     /* on a subtree */
    ACTION_DIRECTION, /* top-down, bottom-up, by user code */
    ACTION_FLAME,
    ACTION_LIBRARIES, /* hide the frames of libraries */
    ACTION_WRAPPER,   /* mark a function as a wrapper of an allocator */
    ACTION_SUPPRESS,  /* write a suppression */
    ACTION_OPEN,      /* the source of what is selected; in the source: the editor */
    ACTION_TO_MEMORY,

    ACTION_ADD, /* a box to a graph; edit, remove, disable, paint, swap it; save the graph */
    ACTION_REMOVE,
    ACTION_DISABLE,
    ACTION_PAINT,
    ACTION_SWAP,
    ACTION_WIRE, /* draw a line from a box to another one */
    ACTION_SAVE,

    ACTION_LIST, /* the allocations behind what is selected */
    ACTION_NEXT, /* match, hole */
    ACTION_PREVIOUS,
    ACTION_GOTO,   /* asks for text, then comes again with it */
    ACTION_SEARCH, /* asks for text, then comes again with it */
    ACTION_ANSWER, /* the text that the view asked for by browse_ask() */
    ACTION_CLICK,  /* with a position */
    ACTION_DRAG,   /* the mouse moves to a position with its button held; a click came before */
    ACTION_DROP,   /* the button is released */
    ACTION_WHEEL_UP,
    ACTION_WHEEL_DOWN,

    /* Actions of the browser. Views that offer nothing (view.h) get ACTION_NARROW themselves. */
    ACTION_NARROW,  /* menu: make a filter of the selection */
    ACTION_EXCLUDE, /* menu: filter the selection out */
    ACTION_COLOR_BY,
    ACTION_COPY,
    ACTION_UNDO, /* the last change of the filter */
    ACTION_REDO,
    ACTION_PAUSE, /* of following a recording */
    ACTION_FILTER,
    ACTION_COMMAND,
    ACTION_HELP,
    ACTION_QUIT,
    ACTION_VIEW_1, /* and the views that follow, in the order of enum view_number */
    ACTION_VIEW_LAST = ACTION_VIEW_1 + VIEW_KEYED - 1,
    ACTION_VIEWS, /* menu: all views */
    ACTION_VIEW_NEXT,
    ACTION_VIEW_PREVIOUS,
    ACTION_REDRAW,
};

/* An action as a view gets it. The size is that of the area that its render() will get. */
struct view_input {
    enum action action;
    int width, height;
    int x, y;         /* of the mouse: position in the view's area */
    bool twice;       /* ACTION_CLICK: the second click of a double click */
    const char *text; /* ACTION_SEARCH, _GOTO, _RANGE, _ANSWER: the typed text */
    bool more;        /* another action waits: data that is only shown can load later */
};
