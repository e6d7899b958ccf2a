/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a session where the user has named a trace. */
#ifndef MPROF_TUI_BROWSER_GIVEN_TRACE_H
#define MPROF_TUI_BROWSER_GIVEN_TRACE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Returns the session to open for a named file, which the caller frees: the file itself if it is no
 * trace, or the session beside the trace ("NAME.db" for "NAME.bin"). If that session does not
 * exist, mprof-ingest makes it, once the user has agreed (`yes`, or on the terminal). Returns NULL
 * after a message.
 */
char *given_trace_session(const char *path, bool yes);

/*
 * Starts mprof-ingest, which follows the trace of a running program, and waits for its session,
 * beside the trace. `replace`: one that exists. Returns the session, which the caller frees, or
 * NULL after a message. given_trace_leave() ends mprof-ingest when the browser has ended: the
 * session then has what was recorded until now. With `follower` 0 it does nothing.
 */
char *given_trace_follow(const char *path, bool replace, pid_t *follower);
void given_trace_leave(pid_t follower, const char *session);

#endif
