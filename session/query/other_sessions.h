/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sessions that filters of a session compare with (`session "FILE"`). Each is opened once, only
 * to read it, and stays open as long as the session: results point into it.
 */
#ifndef MPROF_SESSION_QUERY_OTHER_SESSIONS_H
#define MPROF_SESSION_QUERY_OTHER_SESSIONS_H

#include "session/session.h"

/* Opens another session for `context`, a struct session, or gives the one that is open. Returns
 * NULL with `error` set. */
struct session *other_session_open(void *context, const char *path, struct session_error *error);
void other_sessions_close(struct session *session);

#endif
