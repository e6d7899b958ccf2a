/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control from inside the program: the functions of mprof.h, and the way that programs find them.
 */
#ifndef MPROF_CAPTURE_CONTROL_H
#define MPROF_CAPTURE_CONTROL_H

#include <stdbool.h>

/* Sets the names of the marks at which recording begins and ends; "": none. Copies them. */
void control_set_marks(const char *start, const char *stop);

/* Put a mark or a snapshot into the trace, for the entry point of that frame. False if nothing is
 * recorded. */
bool control_put_mark(const void *frame, const char *name);
bool control_put_snapshot(const void *frame, const char *name);

/* Sets the pointer of every loaded program and library that includes mprof.h. Called by the
 * constructor, when everything that the program starts with is loaded. */
void control_bind(void);

#endif
