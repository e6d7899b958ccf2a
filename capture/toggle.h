/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --toggle: a signal to the program that switches recording off and on.
 *
 * The recorder has its own handler for it. Where the program has one, at the start or later, there
 * is no toggle: one line says so, and the program's handler is left alone. That is looked at when
 * the program starts, when a thread begins a chunk, and at the end.
 *
 * The handler does nothing but count, unless the thread that it interrupts has a state and is not
 * inside an event; otherwise it is that thread's next event, or another thread that records, that
 * does what is asked.
 */
#ifndef MPROF_CAPTURE_TOGGLE_H
#define MPROF_CAPTURE_TOGGLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* 0: there is none. */
extern uint32_t toggle_signal;

/* Signals that came and were not acted on yet. */
extern _Atomic uint32_t toggle_asked;

/* Takes the signal `number`, once a program. */
void toggle_begin(uint32_t number);

/* Looks whether the handler is still the recorder's. */
void toggle_check(void);

/* Switches as often as was asked. Not while the calling thread holds the guard. */
void toggle_serve(void);

#endif
