/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --toggle: a signal to the program that switches recording off and on.
 *
 * The recorder has its own handler for the signal. If the program has one too, at the start or
 * later, there is no toggle: one line says so, and the program's handler stays. The recorder checks
 * this when the program starts, when a thread begins a chunk, and at the end.
 *
 * The handler only counts, unless the interrupted thread has a state and is not inside an event.
 * Otherwise the next event of that thread, or another thread that records, does what is asked.
 */
#ifndef MPROF_CAPTURE_RECORD_TOGGLE_H
#define MPROF_CAPTURE_RECORD_TOGGLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* 0 if there is no toggle. */
extern uint32_t toggle_signal;

/* The signals that came and were not acted on yet. */
extern _Atomic uint32_t toggle_asked;

/* Installs the handler for the signal `number`, once in a program. */
void toggle_begin(uint32_t number);

/* Checks that the handler is still the recorder's. */
void toggle_check(void);

/* Switches recording if the signals since the last call are odd in number. The calling thread must
 * not hold the guard. */
void toggle_serve(void);

#endif
