/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of a selection; private to the session library. Everything except the set itself is
 * computed at its first use and kept, because many key presses ask for the same. */
#pragma once

#include <stdatomic.h>

#include "session/filter/program.h"
#include "session/filter/warning.h"
#include "session/session.h"
#include "session/store/row_set.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"

/* Sums over the selected allocations of one stack. */
struct stack_sum {
    uint64_t bytes, count, live_bytes, live_count, at_peak_bytes, at_peak_count, short_lived;
};

/* The way from a row to its position in a legend: the row has a code, the code a position. */
struct color_map {
    enum session_color_by by;
    enum column column;   /* its value gives the code, if `by` has a column */
    uint8_t *position;    /* by code */
    uint8_t *of_category; /* position by category: a function, a module, or the code */
    uint32_t categories;
    uint64_t age_step_ns;
    struct session_legend legend;
};

#define COLOR_BY_TOTAL (SESSION_COLOR_KIND + 1)

/* Parts of the list of allocations that are kept (rows.h). */
#define SELECTION_PARTS 4
struct rows_part;

struct selection {
    struct session *session;
    atomic_uint owners;
    struct row_set set;
    struct filter_colors colors;
    enum session_color_by color_by;
    uint64_t *before; /* selected rows before each chunk; chunks + 1 */
    uint64_t bytes, allocations, live_bytes, live_count;
    bool everything;      /* all blocks of the process heap: no step selects among them */
    uint64_t chosen_from; /* number of blocks of the selected process or of all */
    struct filter_warnings *warnings; /* also notes about the result, or NULL */
    bool peak_known;
    uint64_t peak_bytes, peak_ns;
    uint64_t *order; /* the first `ordered` rows in sort order */
    uint64_t ordered;
    struct stack_sum *stack_sums;             /* by stack */
    struct session_timeline timeline;         /* the one whose slots are kept */
    struct session_slot *slots;               /* or NULL */
    struct rows_part *parts[SELECTION_PARTS]; /* the last ones asked for, free() */
    struct color_map *maps[COLOR_BY_TOTAL];
    struct grid_colors *grid_colors; /* of the memory grid (grid.c), free(), or NULL */
    char *graph; /* the text that made it, if that gives groups; NULL: it gives something else */
    struct selection *stacked; /* the last one that is stacked by groups (stacking.h), or NULL */
    char *stacked_by;
};

/* Makes a selection of the rows of a set, which it takes over, in failure too. `everything`: these
 * are all blocks of the process heap. `totals`: those of the set, NULL if they are not known.
 * Returns NULL with `error` set. */
struct row_totals;
struct selection *selection_of_set(struct session *session, struct row_set *set,
                                   const struct filter_colors *colors, bool everything,
                                   const struct row_totals *totals, struct session_error *error);

/* Returns the n-th selected row by id. There must be so many. */
uint64_t selection_nth_row(const struct selection *selection, uint64_t n);

/* Computes the measure of a step over the selected allocations: count, sum, avg, min, max, peak or
 * growth. Fills all of *measure but its name. Returns false with `error` set. */
struct filter_step;
struct session_measure;
bool selection_measure(struct selection *selection, const struct filter_step *step,
                       struct session_measure *measure, struct session_error *error);

/* Parses the fields of a join. Returns NULL with `error` set; its columns count in `by`. */
struct filter_graph *fields_parse(const char *by, struct session_error *error);
/* Makes groups of a selection's rows by these fields. `also` asks for more sums of the same pass,
 * or is NULL. Returns NULL with `error` set. */
struct session_group_set;
struct sums_query;
struct session_group_set *selection_join(const struct selection *selection, const char *fields,
                                         const struct sums_query *also,
                                         struct session_error *error);

/* Returns the sums by stack, session->stacks.count of them, or NULL with `error` set. */
const struct stack_sum *selection_stack_sums(struct selection *selection,
                                             struct session_error *error);

/* Returns the colouring `by`, or NULL with `error` set. */
const struct color_map *selection_color_map(struct selection *selection, enum session_color_by by,
                                            struct session_error *error);
void color_map_free(struct color_map *map);

/* Stores the category of each stack for a colouring by functions, modules, own code or owners, in
 * `*of_stack`, which the caller frees, and the number of categories. Returns false with `error`
 * set.
 */
bool color_categories_of_stacks(struct session *session, enum session_color_by by,
                                uint32_t **of_stack, uint32_t *categories,
                                struct session_error *error);

/* Returns the columns that color_map_of() reads, as bits. */
unsigned color_map_columns(const struct color_map *map);
uint64_t color_code(const struct color_map *map, uint64_t value, uint64_t size, uint64_t alloc_ns,
                    uint64_t life_ns, uint8_t color);

/* Returns the legend position of a row. `value` is that of its column map->column, `color` the
 * number of its color step. */
static inline size_t color_map_of(const struct color_map *map, uint64_t value, uint8_t color)
{
    if (map->by == SESSION_COLOR_NONE)
        return map->position[color];
    if (map->by != SESSION_COLOR_SIZE && map->by != SESSION_COLOR_AGE &&
        map->by != SESSION_COLOR_LIFETIME)
        return map->position[value];
    return map->position[color_code(map, value, value, value, value, 0)];
}

/* The last selections of a session are kept with all that was found for them: who undoes a change
 * of the filter sees the screen of before at once. Their rows take at most so many bytes. Tests
 * make it small; 0: none is kept. */
extern size_t kept_selections_bytes_most;
void kept_selections_free(struct session *session);

/* Opens another session for `context`, a struct session, or gives the one that is open. Returns
 * NULL with `error` set. */
struct session *other_session_open(void *context, const char *path, struct session_error *error);

/* Computes peak_bytes and peak_ns if they are not known yet. */
bool selection_find_peak(struct selection *selection, struct session_error *error);
/* Does so from sums by bucket (peaks.h), or with NULL without them. */
struct peak_sum;
struct time_buckets;
bool selection_search_peak(struct selection *selection, const struct time_buckets *time,
                           const struct peak_sum *sums, struct session_error *error);

/* The parts of a slot of a timeline. */
#define SELECTION_SLOT_PARTS 16

/* Does so with the timeline that was asked for last and the sums by stack, if there was one. */
bool screen_pass_expected(struct selection *selection, struct session_error *error);

/* Returns true if selection->slots are those of the timeline. */
bool screen_pass_knows(const struct selection *selection, const struct session_timeline *timeline);

/* The most events that selection_events() has in memory, at least 1. Tests make it small. */
extern size_t selection_events_at_once;
