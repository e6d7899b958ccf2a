/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a session where the user has named a trace. */
#ifndef MPROF_TUI_GIVEN_TRACE_H
#define MPROF_TUI_GIVEN_TRACE_H

#include <stdbool.h>

/*
 * Returns the session to open for a named file, which the caller frees: the file itself if it is no
 * trace, or the session beside the trace ("NAME.db" for "NAME.bin"). If that session does not
 * exist, mprof-ingest makes it, once the user has agreed (`yes`, or on the terminal). Returns NULL
 * after a message.
 */
char *given_trace_session(const char *path, bool yes);

#endif
