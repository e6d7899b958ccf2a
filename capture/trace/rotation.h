/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Another file for the same recording: the next trace takes the name of the present one, which gets
 * the name with .rN appended (trace-format.md, "Rotation").
 *
 * Legal order: trace_rotation_begin(); then, while no thread is inside an event,
 * trace_rotation_take_name(), trace_file_end(), trace_rotation_switch(), the first records, and
 * trace_rotation_answer(). trace_rotation_cancel() may come at any place before trace_file_end().
 *
 * The header of the next trace is mapped where that of the present one was, so pointers to it stay
 * valid.
 */
#ifndef MPROF_CAPTURE_TRACE_ROTATION_H
#define MPROF_CAPTURE_TRACE_ROTATION_H

#include <stdbool.h>
#include <stdint.h>

#include "schemas/trace_layout.h"

/* Makes the next file. Returns false if that cannot be done: then nothing has changed. */
bool trace_rotation_begin(void);
void trace_rotation_cancel(void);
/* Gives the next file the name of the trace. Returns false if that cannot be done: then nothing has
 * changed. */
bool trace_rotation_take_name(void);
/* Makes the next file the trace. */
void trace_rotation_switch(void);
/* Returns the trace_id of the trace before. Only between trace_rotation_switch() and _answer(). */
uint64_t trace_rotation_before(void);
/* Returns the number of the present trace among those of this process, from 1. */
uint32_t trace_rotation_number(void);
/* Answers the request in the trace before that it is done, and releases that trace. */
void trace_rotation_answer(void);

#endif
