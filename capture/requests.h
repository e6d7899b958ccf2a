/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What another process asks of the recorder through the trace file, done in the thread that
 * notices it, inside one of the program's heap calls but outside the guard.
 */
#ifndef MPROF_CAPTURE_REQUESTS_H
#define MPROF_CAPTURE_REQUESTS_H

/* Does what is asked, if no other thread has taken it. The calling thread must not hold the guard;
 * errno keeps its value. */
void requests_serve(void);

#endif
