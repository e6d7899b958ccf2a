/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks up stored graphs for the parser (struct filter_names). */
#ifndef MPROF_SESSION_GRAPHS_NAMES_H
#define MPROF_SESSION_GRAPHS_NAMES_H

#include "session/filter/tree.h"

/* Makes the lookup of a session's graphs, those of the folder and those that ship, in this order.
 * The session must outlive it. NULL: memory is exhausted. */
struct filter_names *graph_names_new(struct session *session);
void graph_names_free(struct filter_names *names);

#endif
