/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Lisp functions that a thread runs: ECL's invocation history stack. Its frames lie on the
 * native stack, each in the native frame of the evaluator that runs the function. Functions that
 * are compiled are not on it, but have native frames of their own.
 */
#ifndef MPROF_RUNTIMES_ECL_WALK_H
#define MPROF_RUNTIMES_ECL_WALK_H

#include "capture/mprof.h"

/* As in struct mprof_runtime_calls. */
unsigned ecl_frames(void *data, struct mprof_frame *out, unsigned max);
void ecl_name(void *data, const void *key, struct mprof_frame_name *out);

#endif
