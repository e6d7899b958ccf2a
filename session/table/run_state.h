/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of a run, which run.c, sides.c, recall.c and write.c share. */
#pragma once

#include "session/table/recall.h"
#include "session/table/run.h"

/* The saved filters of other sessions that are running, the innermost first. */
struct run_chain {
    const struct session *session;
    const char *graph;
    const struct run_chain *outer;
};

struct run {
    struct session *session;
    const struct run_chain *chain; /* or NULL */
    const struct run_options *options;
    struct filter_colors *colors;
    enum session_color_by color_by;
    unsigned pipelines;
    bool arenas;        /* sets have blocks of custom allocators */
    bool processes;     /* sets have blocks of all processes, not only of the selected one */
    bool leaks_unknown; /* a set `leaked` is of a session whose recording stopped */
    struct filter_warnings warnings;
    const struct filter_step *last; /* the last step that selects rows, a `where`; NULL: another */
    bool summed;                    /* its pass has found the totals of the rows */
    struct row_totals totals;
    struct session_error *error;
};

/* The rows between two steps of a pipeline. */
struct run_rows {
    enum filter_kind kind;
    struct row_set set;     /* of the run's session */
    struct run_side *sides; /* of other sessions */
    struct session_group_set *groups;
    const struct filter_step *measure;
};

void run_rows_free(struct run_rows *rows);

/* Runs a pipeline. Returns false with the error set and `rows` to be freed all the same. */
bool run_pipeline(struct run *run, const struct filter_pipeline *pipeline, struct run_rows *rows);

/* Makes the rows of a set, which are empty before. */
bool run_set(struct run *run, const struct filter_set *source, struct run_rows *rows);
/* Makes the rows of a set of another session. */
bool run_other_session(struct run *run, const struct filter_set *source, struct run_rows *rows);
/* Sets `left` to left + right, left - right or left & right. */
bool run_combine(struct run *run, enum filter_set_kind kind, struct run_rows *left,
                 struct run_rows *right);
/* Returns the only side that has rows, NULL if it is the run's session, or *several. */
struct run_side *run_only_side(struct run_rows *rows, bool *several);
void run_sides_free(struct run_side *sides);

/* Puts the rows that the first steps of a pipeline gave into `rows`, which are empty: as many steps
 * as the session remembers. Returns the last of them, NULL if there is none. `*keep` gets the step
 * whose rows are to be remembered, NULL if there is none, and `text` the text up to there. */
const struct filter_step *recall_find(struct run *run, const struct filter_pipeline *pipeline,
                                      struct run_rows *rows, struct pipeline_text *text,
                                      const struct filter_step **keep);
/* Remembers the rows of a text if they are only a set of the run's session. Without memory it
 * remembers nothing. */
void recall_keep(struct run *run, const struct pipeline_text *text, const struct run_rows *rows,
                 bool leaks_unknown);
/* Writes the rows to the file of the step. */
bool run_write(struct run *run, const struct filter_step *step, struct run_rows *rows);

/* Keeps the rows of `set` for which the program holds. */
bool run_keep_where(struct run *run, const struct filter_program *program, struct row_set *set);
