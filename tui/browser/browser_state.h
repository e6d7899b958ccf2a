/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the browser, shared by its files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tui/screen/cells.h"
#include "tui/screen/input.h"
#include "tui/screen/line_editor.h"
#include "tui/screen/menu.h"
#include "tui/view/common/browse.h"
#include "tui/view/view.h"

enum browser_mode {
    MODE_VIEW, /* keys go to the view */
    MODE_FILTER,
    MODE_SEARCH,
    MODE_COMMAND,
    MODE_GOTO,
    MODE_RANGE,
    MODE_ASK, /* a view has asked, by browse_ask() */
    MODE_HELP,
    MODE_MENU,
    MODES
};

#define STEPS_MOST 64

struct browser;

#define COMPLETIONS_MOST 256

struct completion {
    char *words[COMPLETIONS_MOST]; /* as they are put in, in order, each once */
    size_t count;
    bool more;   /* words that are not among them */
    int at;      /* the one that was put in; -1: none yet */
    int written; /* code points before the cursor that the next one replaces */
};

/* Completes the word at the cursor of the prompt that is open. */
void complete(struct browser *browser);
/* Forgets the words, after any other key. */
void completion_clear(struct completion *completion);
/* Draws the words in one row. */
void completion_render(const struct completion *completion, const struct area *row);
/* A step of the trail: the view that was left, or this for a change of the filter. */
#define STEP_FILTER VIEWS

/* The filters that undo and redo go through. */
struct filter_history {
    char *texts[STEPS_MOST];
    int count, at; /* `at`: the present one */
};

enum menu_kind { MENU_NARROW, MENU_EXCLUDE, MENU_COLOR, MENU_STACK, MENU_VIEWS };
#define STACKINGS_MOST 40

struct browser {
    struct browse browse;
    void *views[VIEWS];
    enum view_number current;
    enum browser_mode mode;
    int width, height;
    int hint; /* keys until the hint of a first run is gone; 0: none */
    int help_scroll;
    char help_search[200];
    size_t help_found;               /* the line that the search has found */
    enum browser_mode prompt_behind; /* that a prompt was opened in: the view or the help */
    bool finished, redraw;
    bool more;   /* of the present event */
    bool behind; /* the current view has not loaded all that it shows */
    int wait_ms; /* for answers, see browser.h */
    bool paused; /* the user looks at one state of a recording, and takes no newer one */
    int64_t renewal_ms, renewal_began_ms; /* the next and the last look for a newer session */

    struct line_editor *editors[MODES]; /* of the modes with typing; MODE_GOTO: of the view */
    struct line_editor *places[VIEWS];  /* the editors of MODE_GOTO, each with its own history */
    const char *asked;                  /* the prompt of MODE_ASK */
    const char *asked_before;           /* what its line continues: of browse_ask() */
    struct session_error filter_error;  /* of the filter in the editor */
    struct completion completion;

    enum view_number trail[STEPS_MOST]; /* what Esc takes back, the last step last */
    int trail_length;
    struct filter_history filters;

    struct menu menu;
    enum menu_kind menu_kind;
    struct view_offer *offers; /* of the menu; VIEW_OFFERS of them */
    size_t offer_count;
    enum session_color_by color_before; /* the menu of colours was opened */
    char stackings[STACKINGS_MOST][24]; /* of the menu of stackings; "" is the colouring */
    size_t stacking_count;
    char *copied;                /* text for the clipboard; NULL: none waits */
    struct session_job *writing; /* a session; NULL: none is being written */
    char written[201];           /* its file, or that of the last one */
};

/* Returns the view with a number, NULL if it does not exist. */
const struct view_ops *browser_view(enum view_number number);
/* Finds a view by its name or alias, or unless `whole` by the beginning of one. VIEW_SAME: none. */
enum view_number browser_find_view(const char *name, bool whole);
/* Writes "overview, timeline and memory". Returns `out`. */
char *browser_view_names(char *out, size_t size);
/* Returns true if the terminal has no room for the browser. */
bool browser_too_small(const struct browser *browser);
/* Returns the action of a key in the current view. */
enum action browser_action_of(const struct browser *browser, uint32_t key);
/* Lets the current view load what it lacks. */
void browser_refresh(struct browser *browser);
/* Does that if a burst of keys has not loaded what lies beside the rows. */
void browser_catch_up(struct browser *browser);
/* Sends an action to the current view and fulfils the view's requests. */
bool browser_act(struct browser *browser, const struct view_input *input);
/* Does what a key asks for. Returns false if that means nothing in the current view. */
bool browser_do(struct browser *browser, enum action action);
/* Goes to a view. With `remember` Esc goes back. */
void browser_go(struct browser *browser, enum view_number number, bool remember);
/* Applies a filter and remembers the one before. Returns false with `error` set if it is bad. */
bool browser_filter(struct browser *browser, const char *text, struct session_error *error);
/* Selects another process by its name or number. Returns false with `error` set if there is none.
 * Without a name, `error` lists the processes. */
bool browser_select_process(struct browser *browser, const char *word, struct session_error *error);
/* Goes to the functions view and finds a function there. */
void browser_search(struct browser *browser, const char *text);

/* The ways back. */
void steps_begin(struct browser *browser); /* the first filter runs */
void steps_free(struct browser *browser);
void steps_back(struct browser *browser); /* Esc */
void steps_undo(struct browser *browser);
void steps_redo(struct browser *browser);
/* Forgets the filter that the engine could not run. */
void steps_filter_failed(struct browser *browser);

/* Menus: what the selected thing offers, the colourings, and what the timeline stacks by. */
/* Frees the offers of the last menu. */
void menus_forget(struct browser *browser);
void menus_key(struct browser *browser, uint32_t key);
void menus_click(struct browser *browser, int x, int y);

/* Begins a mode with typing. */
void prompt_open(struct browser *browser, enum browser_mode mode);

/* Everything around the view. */
#define FRAME_TOP 2    /* rows above the view */
#define FRAME_BOTTOM 1 /* and below */
#define FRAME_WIDTH_LEAST 40
#define FRAME_HEIGHT_LEAST 10
/* Returns the view whose name in the title line is at column `x`, VIEW_SAME if there is none. */
enum view_number frame_tab_at(const struct browser *browser, int x);
/* Returns true if the tab of the menu of views is there. */
bool frame_menu_at(const struct browser *browser, int x);
/* Returns the action of the footer's hint at column `x`, ACTION_NONE if there is none. */
enum action frame_hint_at(const struct browser *browser, int x);
/* The keys that the hint of a first run stays for, and those at whose end it is faint. */
#define FRAME_HINT_KEYS 6
#define FRAME_HINT_FAINT 3
/* The first column of the filter's text. */
#define FRAME_FILTER_COLUMN 3
