/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control from inside the program: the functions of mprof.h, and how programs find them.
 */
#ifndef MPROF_CAPTURE_CONTROL_H
#define MPROF_CAPTURE_CONTROL_H

#include <stdbool.h>

/* Recording begins and ends when marks of these names are set; "": none. They are copied. */
void control_set_marks(const char *start, const char *stop);

/* What mprof_mark() and mprof_snapshot() do, for the entry point of that frame. False where nothing
 * is recorded. */
bool control_put_mark(const void *frame, const char *name);
bool control_put_snapshot(const void *frame, const char *name);

/* Sets the pointer of every loaded program and library that includes mprof.h. Called by the
 * constructor, when all that the program starts with is loaded. */
void control_bind(void);

#endif
