/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The signal of --toggle: its handler, and how often it came.
 *
 * The recorder has its own handler for the signal. If the program has one too, at the start or
 * later, there is no toggle: one line says so, and the program's handler stays. The recorder checks
 * this when the program starts, when a thread begins a chunk, and at the end.
 */
#ifndef MPROF_CAPTURE_RECORD_TOGGLE_SIGNAL_H
#define MPROF_CAPTURE_RECORD_TOGGLE_SIGNAL_H

#include <stdatomic.h>
#include <stdint.h>

/* The signals that came and were not acted on yet. */
extern _Atomic uint32_t toggle_signal_count;

/* Installs the handler for the signal `number`, once in a program. 0: there is no toggle. */
void toggle_signal_take(uint32_t number, void (*handler)(int number));

/* Checks that the handler is still the recorder's. */
void toggle_signal_check(void);

#endif
