/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a parsed graph on a session: sets, then one step after the other. */
#ifndef MPROF_SESSION_FILTER_RUN_H
#define MPROF_SESSION_FILTER_RUN_H

#include "session/filter_program.h"
#include "session/filter_tree.h"
#include "session/row_set.h"

/* `of_all`: the filter speaks of processes, and so is of all of them, not of the selected one. `by`
   is that of the last `color by` step of the outermost pipeline. False with `error` set;
   otherwise the caller row_set_free()s `set`. */
bool filter_run(struct session *session, const struct filter_graph *graph, struct row_set *set,
                struct filter_colors *colors, enum session_color_by *by, bool *of_all,
                struct session_error *error);

#endif
