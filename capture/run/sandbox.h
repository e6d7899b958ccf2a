/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds out what a seccomp filter does to the recorder's calls if mprof-run was started under one.
 *
 * A filter that was set before cannot be read. A filter that answers with errors does no harm. One
 * that kills would kill the program for a call that only the recorder makes. So a child tries each
 * call first. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Tries the calls if there is a filter. Call it once, before there are other children. */
void run_sandbox_look(void);

/* Returns true if mprof-run may make the call. True for any call that the recorder does not make.
 */
bool run_sandbox_allows(long number);

/* Returns the name of a forbidden call without which nothing can be recorded, or NULL. */
const char *run_sandbox_forbids_recording(void);

/* Writes the numbers of the calls to leave out, with colons between them, for MPROF_OPTIONS. The
 * text is "" if there are none. */
void run_sandbox_without(char *text, size_t size);
