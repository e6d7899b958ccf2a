/* SPDX-License-Identifier: BSD-2-Clause */
/* The state that all views share: the session, the active filter and its selection, the colouring,
 * the current moment and function. Views also use it to ask the browser for something (another
 * filter, another view, a message). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "session/holes.h"
#include "session/jobs.h"
#include "session/session.h"
#include "tui/screen/action.h"
#include "tui/screen/cells.h"
#include "tui/screen/theme.h"
#include "tui/view/common/load.h"

/* A filter that the engine still runs, on the session or on a newer state of it. */
struct coming_filter {
    struct session_job *job;   /* or NULL */
    struct session_jobs *jobs; /* of `newer` */
    struct session *newer;     /* NULL: the filter runs on the session */
    char *text;
};

/* A pass over more allocations than that takes too long for a name alone. */
enum { BROWSE_PASS_MOST = 1 << 24 };

/* Results of worst_holes_get() so far. */
struct worst_holes {
    struct load load;
    uint64_t renewals; /* the state of the session that it is about */
    size_t done;       /* so many moments have been looked at */
    struct session_use use;
    uint64_t ns;
};

struct browse {
    struct session *session;
    struct loader loader;
    const struct loader *beside; /* of a view that has an engine of its own, or NULL */
    struct selection *selection;
    char *filter; /* its text; "" selects everything */
    struct coming_filter coming;
    struct session_job *asked_newer; /* whether the session has a newer state; NULL: not asked */
    uint64_t generation;             /* changes with each change of filter, colouring or session */
    uint64_t selections;             /* changes with each change of filter or session */
    uint64_t renewals;               /* changes with each newer state of the session */
    int64_t renewed_ms;              /* when the last one came, by loader_now_ms(); 0: none yet */
    enum session_color_by color_by;
    struct load legend_load, peak_load;
    struct session_legend legend; /* of `color_by`; empty while it is not known */
    uint64_t legend_generation;   /* the one that it is of */
    bool peak_known;
    uint64_t peak_bytes, peak_ns; /* of the selection */
    bool peak_wanted;             /* go there as soon as it is known, */
    uint64_t peak_asked_ns;       /* unless the moment is another one than this by then */
    struct category_colors colors;
    uint8_t slots[SESSION_COLORS]; /* colour of each position of the legend */
    struct worst_holes worst_holes;
    uint64_t moment_ns; /* timeline's cursor, the memory's time */
    bool has_range;     /* of time, which the user marked in the timeline */
    uint64_t range_from_ns, range_to_ns;
    bool marking;      /* the user is moving to the range's end */
    const char *other; /* the session to compare with, a path, or NULL */
    /* The last ones that the user selected, in any view. */
    uint32_t function;
    bool has_function;
    uint64_t allocation; /* its id; 0: none */
    struct {
        uint64_t renewals, address, ns; /* of its birth, or after it; ns 0: nothing is sought */
    } sought;                           /* that allocation, in a newer state with other ids */
    struct load sought_load;
    uint64_t to_memory;  /* the allocation that the memory view goes to; 0: stay where it is */
    uint64_t to_holders; /* the same of the view of retained sizes */
    char *source_path;   /* the place in the source; owned, or NULL */
    uint32_t source_line;
    bool source_live; /* what it says is about the live bytes, not the peak */
    char *edit_path;  /* request for the user's editor at `edit_line`; owned, or NULL */
    uint32_t edit_line;
    int64_t wake_ms;   /* the view wants an update at this time of the clock; 0: no */
    const char *about; /* "~" before numbers that are estimates, otherwise "" */

    /* The requests of a view; the browser fulfils them after update(). */
    char *request_filter; /* owned, or NULL */
    enum view_number request_view;
    const char *request_prompt; /* a prompt, or NULL */
    const char *request_before; /* for Tab: of browse_ask() */
    const char *request_sql;    /* a statement that the view of SQL runs next, or NULL */
    char *request_answer;       /* the text that the prompt begins with; owned */
    char message[320];
    bool message_is_error;
};

/* Takes an open session, which must outlive it, and starts its engine. Runs no filter. Calls wait
 * for the engine until loader.deadline_ms, which is -1 (without end) at first. Returns false with
 * `error` set. */
bool browse_init(struct browse *browse, struct session *session, struct session_error *error);
/* Stops the engine and frees everything except the session. */
void browse_close(struct browse *browse);

/* Runs a filter. Returns false with `error` set if it is bad; nothing has changed then. The filter
 * becomes the active one now or, if the deadline comes first, in a later browse_update(). */
bool browse_filter(struct browse *browse, const char *text, struct session_error *error);
/* Gives up the filter that is coming; the active one stays. */
void browse_keep_filter(struct browse *browse);
/* Returns the filter that is coming or, if none is, the active one. */
const char *browse_wanted_filter(const struct browse *browse);
/* Takes the answers that have come: a filter, a newer state. Returns false with `error` set if a
 * filter that was coming has failed; the active one stays. */
bool browse_update(struct browse *browse, struct session_error *error);
/* Returns true if something is still being computed. */
bool browse_waits(const struct browse *browse);
/* Selects another process and runs the active filter on it. Returns false with `error` set. */
bool browse_select_process(struct browse *browse, uint32_t id, struct session_error *error);
/* Looks for a newer state of a session that is being recorded. If there is one, it replaces the
 * session in a later browse_update(). Filter, moment and function stay. The session of before
 * is closed then. Returns false with `error` set if the newer state cannot be opened. */
bool browse_renew(struct browse *browse, struct session_error *error);
/* Returns the data of a request as load_get() does. Complains if they could not be computed. */
void *browse_get(struct browse *browse, struct load *load, const struct load_kind *kind,
                 const void *request);
/* Asks for the legend of the colouring. A view that shows it calls this before its own questions:
 * the answer takes a pass over the selection, which answers them, too. */
void browse_load_legend(struct browse *browse);
/* Asks for the selection's peak, which all views show. It comes after the questions of the view:
 * most of these find it on the way. Returns true if it has become known now. */
bool browse_load_peak(struct browse *browse);
/* Moves the moment to the selection's peak. If that is not known yet, says so and returns false:
 * the moment then moves as soon as it is. */
bool browse_go_to_peak(struct browse *browse);
/* Chooses the colouring. */
void browse_color_by(struct browse *browse, enum session_color_by color_by);
/* Writes what the head of a view must say that counts all blocks of one process, whatever is
 * selected: which process, if there are several, and that the filter is not applied. */
void browse_tell_process(const struct browse *browse, const struct area *area, int x, int y,
                         uint64_t process);
/* Writes the words that take the place of data that have not come yet. Returns `out`. */
#define PENDING_SIZE 40
char *browse_pending(char *out, const struct browse *browse);
/* Returns the name of a colouring, as in `color by NAME`; "filter's own" for SESSION_COLOR_NONE. */
const char *color_by_name(enum session_color_by color_by);
/* Returns what stands after "by": "your code" for user, otherwise the name. */
const char *color_by_words(enum session_color_by color_by);
/* Finds the colouring with a name. Returns false if there is none. */
bool color_by_from_name(const char *name, enum session_color_by *color_by);
/* Gives the positions of a legend the colours that its names have in all views. `kind` tells names
 * of one kind apart from those of others: that of a colouring, or a larger number. */
void browse_assign(struct browse *browse, unsigned kind, const struct session_legend *legend,
                   uint8_t slots[SESSION_COLORS]);
/* Return the style of a legend position, and its glyph on a terminal without colours. */
struct cell_style legend_category(const struct session_legend *legend, const uint8_t *slots,
                                  const struct grid *grid, size_t position);
uint32_t legend_pattern(const uint8_t *slots, size_t position);
/* Returns the style of a legend position. */
struct cell_style browse_category(const struct browse *browse, const struct grid *grid,
                                  size_t position);
/* Returns its glyph on a terminal without colours. */
uint32_t browse_pattern(const struct browse *browse, size_t position);

/* Return a text that the caller frees, NULL if memory is exhausted: the active filter, and one that
 * has one more step. If the filter makes groups, both go on with the allocations of these. */
char *browse_allocations(const struct browse *browse);
char *browse_narrowed(const struct browse *browse, const char *step);
/* Writes the first one to `size` bytes, "" if there is no filter. Returns false if it is longer. */
bool browse_put_allocations(const struct browse *browse, char *out, size_t size);
/* Requests the rows of a statement of SQL, which lives as long as the program. */
void browse_query(struct browse *browse, const char *statement);
/* Requests the active filter with one more step; `step` is the text after the bar. */
void browse_narrow(struct browse *browse, const char *step);
/* Requests a filter that does not build on the active one. */
void browse_replace(struct browse *browse, const char *filter);
/* Requests the view of retained sizes at a block: who refers to it, and what it refers to. */
void browse_show_holders(struct browse *browse, uint64_t allocation);
/* Requests another view. Esc comes back. */
void browse_show(struct browse *browse, enum view_number view);
/* Requests a line of a source file. `path` is the one that the session has. Set source_live after
 * it if the view is about live blocks. */
void browse_open_source(struct browse *browse, const char *path, uint32_t line);
/* Requests the place where a function begins, or says that it is not known. */
void browse_open_function(struct browse *browse, uint32_t function);
/* Requests the user's editor at a line of a file on this machine. */
void browse_edit(struct browse *browse, const char *path, uint32_t line);
/* Requests the list of the allocations that the active filter with one more step selects. */
void browse_list(struct browse *browse, const char *step);
/* Requests a line that the user types. `prompt` and `before` live as long as the program, `text`
 * is the first answer. `before` is the part of a filter that the line continues, so that Tab knows
 * its words; NULL: the line is the name of a graph. The view gets the line by ACTION_ANSWER, or
 * nothing if the user leaves the prompt. */
void browse_ask(struct browse *browse, const char *prompt, const char *before, const char *text);
void browse_say(struct browse *browse, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void browse_complain(struct browse *browse, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes `name` as a string of the filter language, "" if `size` is too small. */
char *filter_quote(char *out, size_t size, const char *name);
/* Returns it for any length, malloc()ed, NULL if memory is exhausted. */
char *filter_quoted(const char *name);
