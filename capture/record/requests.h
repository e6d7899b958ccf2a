/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does what another process asks of the recorder through the trace file. The thread that notices
 * the request does it, inside one of the program's heap calls but outside the guard.
 */
#ifndef MPROF_CAPTURE_RECORD_REQUESTS_H
#define MPROF_CAPTURE_RECORD_REQUESTS_H

/* Does what is asked, unless another thread has taken the request. The calling thread must not hold
 * the guard. errno keeps its value. */
void requests_serve(void);

#endif
