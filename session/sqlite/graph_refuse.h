/* SPDX-License-Identifier: BSD-2-Clause */
/* Refuses the filter graphs that SQL may not run. */
#ifndef MPROF_SESSION_SQLITE_GRAPH_REFUSE_H
#define MPROF_SESSION_SQLITE_GRAPH_REFUSE_H

#include "session/session.h"

/* Tells whether a graph parses and has no step `write`. Returns false with `error` and its column
 * set. */
bool graph_is_allowed(const struct session *session, const char *text, struct session_error *error);

#endif
