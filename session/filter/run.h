/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a parsed graph on a session: first the sets, then each step. */
#ifndef MPROF_SESSION_FILTER_RUN_H
#define MPROF_SESSION_FILTER_RUN_H

#include "session/filter/program.h"
#include "session/scan/row_set.h"
#include "session/filter/tree.h"

/* Runs a graph. *of_all is true if the filter tests processes: it then selects from all processes,
   not from the selected one. *by is that of the last `color by` step of the outermost pipeline.
   Returns false with `error` set; otherwise the caller row_set_free()s `set`. */
bool filter_run(struct session *session, const struct filter_graph *graph, struct row_set *set,
                struct filter_colors *colors, enum session_color_by *by, bool *of_all,
                struct session_error *error);

#endif
