/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of the view of leaks: groups of never freed blocks in a table, and the whole stack of
 * the selected one in a pane. leaks.c changes it, data.c asks the engine, rows.c gives the tables
 * their cells and orders them, pattern.c chooses what suppresses a group, render.c draws.
 */
#ifndef MPROF_TUI_VIEW_LEAKS_LEAKS_H
#define MPROF_TUI_VIEW_LEAKS_LEAKS_H

#include "session/leaks.h"
#include "tui/explore/explore.h"
#include "tui/view/common/function_test.h"
#include "tui/view/common/panes.h"
#include "tui/view/leaks/supp_file.h"
#include "tui/widget/table.h"

/* The answer to one question to the engine. */
struct leaks_data {
    struct {
        uint64_t selections, writes; /* the request */
    } request;
    struct suppressions *suppressions; /* of the file beside the session */
    char note[SUPP_ERROR_SIZE];        /* about that file; "": none */
    bool noted;                        /* the user has seen it */
    struct session_leaks leaks;
    struct leak_names {                  /* by group */
        uint32_t user, site;             /* functions; user 0: none */
        size_t first_frame, frame_count; /* in `frames`: its largest stack, innermost first */
        size_t user_frame;               /* the user's of these, or else the call site, or else 0 */
    } * names;
    uint32_t *frames; /* functions, `frame_count` in all groups */
    size_t frame_count;
    uint64_t bytes; /* of all kinds */
};

#define LEAK_FRAMES 512
/* The whole stack of a group. */
struct leak_stack_data {
    struct {
        uint64_t selections, writes, group, nth; /* the request */
    } request;
    struct session_frame frames[LEAK_FRAMES];
    size_t count; /* of all frames; those beyond LEAK_FRAMES are not there */
    size_t user, site;
    uint32_t stack;
    const char *state;
};

/* A pattern that suppresses a group, and what else it takes. */
struct leak_pattern {
    char text[600];         /* "": no frame of the group has a name */
    uint64_t groups, bytes; /* of the others */
};

/* The question for the pattern of a group. */
struct leak_question {
    struct load load;
    struct leaks_data *of; /* NULL: nothing is asked */
    size_t group;
};

struct leaks {
    struct load leaks_load, stack_load;
    struct leaks_data *data;       /* NULL: not there yet */
    struct leak_stack_data *stack; /* the same */
    uint32_t *order;               /* rows to groups; `ordered` of the same data */
    const struct leaks_data *ordered;
    uint64_t ordered_selections, ordered_writes;
    const struct session *session;
    uint64_t writes;  /* of the file of suppressions: changes with each */
    size_t nth;       /* stack of the group that the pane shows */
    uint64_t nth_key; /* of that group */
    struct leak_question shown_pattern, written_pattern; /* of the selected group; of `X` */
    const struct leak_pattern *pattern; /* of the selected group, NULL while it is not known */
    uint64_t frames_of;          /* the stack, and its place, that the table of frames shows */
    struct function_tests tests; /* of leaks_selected_function() */
    bool in_stack;               /* the pane has the keys */
    bool estimated;
    struct table groups, frames;
};

/* ---- data.c ---- */

/* Asks for what the view shows. `with_stack`: also for the stack of the selected group. */
void leaks_load(struct leaks *leaks, struct exploration *exploration, bool with_stack);
/* Returns the group of the selected row, NULL if there is none. */
const struct session_leak *leaks_selected(const struct leaks *leaks);
size_t leaks_selected_group(const struct leaks *leaks);
/* Returns the number of groups, 0 while they are not known. */
size_t leaks_rows(const struct leaks *leaks);

/* Returns the function of the selected frame if the pane has the keys, otherwise the one that the
 * selected group is listed under; 0: none. */
uint32_t leaks_selected_function(const struct leaks *leaks);

/* ---- rows.c ---- */

/* The tables. `context` of the sources is the state. */
struct table_source leaks_groups_source(const struct leaks *leaks);
struct table_source leaks_frames_source(const struct leaks *leaks);
/* Orders the rows by the column of the table: leaks first, then what is not a leak. */
void leaks_sort(struct leaks *leaks);
/* Returns the function that a group is listed under. */
uint32_t leaks_function(const struct leaks *leaks, size_t group);
const char *leaks_kind_name(const struct leaks *leaks, enum session_leak_kind kind);
/* Writes "16 to 124 B", or the size of all blocks. */
#define LEAK_SIZE_TEXT 72
char *leaks_size_text(char *out, const struct session_leak *leak);
/* Writes "once", or in how many tenths of the run blocks of the group were allocated. */
char *leaks_when_text(char *out, const struct session_leak *leak);
/* Writes the name of the type, and how sure it is. */
char *leaks_type_text(char *out, size_t size, const struct leaks *leaks,
                      const struct session_leak *leak);

/* ---- pattern.c ---- */

/*
 * Asks which frame of a group, from the user's own outwards, is the function that names the group
 * and the fewest bytes of other groups: the engine looks through all of them. The question holds
 * `data`.
 */
void leaks_ask_pattern(struct leak_question *question, struct exploration *exploration,
                       struct leaks_data *data, size_t group);
/* Returns the answer, NULL while there is none. It is valid until the next call. */
const struct leak_pattern *leaks_pattern(struct leak_question *question,
                                         struct exploration *exploration);
void leaks_forget_pattern(struct leak_question *question, struct exploration *exploration);

/* ---- render.c ---- */

void leaks_render(const void *view, const struct exploration *exploration, const struct area *area);
/* Keeps the order of the rows, as view_ops.order. */
bool leaks_keep_order(void *view, struct table_order *order, bool set);

#endif
