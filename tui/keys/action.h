/* SPDX-License-Identifier: BSD-2-Clause */
/* The actions that a user asks for, independent of keys. */
#ifndef MPROF_TUI_ACTION_H
#define MPROF_TUI_ACTION_H

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

    ACTION_ZOOM_IN,
    ACTION_ZOOM_OUT,
    ACTION_ZOOM_ALL,
    ACTION_PAN_LEFT,
    ACTION_PAN_RIGHT,
    ACTION_STEP_BACK, /* in time */
    ACTION_STEP_FORWARD,
    ACTION_RANGE,  /* begin a range, or make it a filter */
    ACTION_NARROW, /* make a filter of the selection */
    ACTION_NEXT,   /* match, hole */
    ACTION_PREVIOUS,
    ACTION_SECTION_BACK, /* region */
    ACTION_SECTION_FORWARD,
    ACTION_PEAK,
    ACTION_HOLES,     /* the list of holes, and back */
    ACTION_OVER_TIME, /* the use of memory over time, and back */
    ACTION_PLAY,      /* through time, and stop */

    ACTION_COLOR_BY,
    ACTION_ALTERNATE,
    ACTION_MEMBERS, /* of a type, instead of the stack */
    ACTION_SORT,
    ACTION_SORT_LEFT,
    ACTION_SORT_RIGHT,
    ACTION_SORT_REVERSE,

    ACTION_GOTO,   /* asks for text, then comes again with it */
    ACTION_SEARCH, /* asks for text, then comes again with it */
    ACTION_CLICK,  /* with a position */
    ACTION_WHEEL_UP,
    ACTION_WHEEL_DOWN,

    /* Actions of the browser; views never get them. */
    ACTION_FILTER,
    ACTION_COMMAND,
    ACTION_HELP,
    ACTION_QUIT,
    ACTION_VIEW_1,
    ACTION_VIEW_2,
    ACTION_VIEW_3,
    ACTION_VIEW_4,
    ACTION_VIEW_NEXT,
    ACTION_VIEW_PREVIOUS,
    ACTION_REDRAW,
};

#endif
