/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a seccomp filter under which mprof-run was started does to the recorder's calls.
 *
 * A filter that was set before cannot be read. One that answers by errors does no harm, but one
 * that kills for a call would kill the program for what the recorder does. So each call is tried
 * before, in a child.
 */
#ifndef MPROF_CAPTURE_RUN_SANDBOX_H
#define MPROF_CAPTURE_RUN_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

/* Tries the calls where there is a filter. Once, before there are other children. */
void run_sandbox_look(void);

/* Whether mprof-run may make the call; true of those that the recorder does not make. */
bool run_sandbox_allows(long number);

/* The name of a call without which nothing can be recorded and that is punished; NULL: none is. */
const char *run_sandbox_forbids_recording(void);

/* For MPROF_OPTIONS: the numbers of the calls to leave out, with colons between; "": none. */
void run_sandbox_without(char *text, size_t size);

#endif
