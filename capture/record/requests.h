/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does what others ask of the recorder: another process through the trace file, or the signal of
 * --toggle. The thread that notices the request does it, inside one of the program's heap calls but
 * outside the guard.
 *
 * The handler of the signal only counts, unless the interrupted thread has a state and is not
 * inside an event. Otherwise the next event of that thread, or another thread that records, does
 * what is asked.
 */
#ifndef MPROF_CAPTURE_RECORD_REQUESTS_H
#define MPROF_CAPTURE_RECORD_REQUESTS_H

#include <stdint.h>

/* Takes the signal `number` for --toggle (toggle_signal.h). */
void requests_take_signal(uint32_t number);

/* Does what is asked, unless another thread has taken the request. The calling thread must not hold
 * the guard. errno keeps its value. */
void requests_handle(void);

#endif
