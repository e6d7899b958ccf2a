/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recording that begins or ends when the program calls a function, start=call:SYMBOL and
 * stop=call:SYMBOL.
 *
 * A call is seen by the first heap call that is made under it: the function is then on the stack,
 * which is taken anyway. Nothing of the program is changed for it, so nothing can be left changed
 * in threads, forked children or where mprof-run is killed.
 *
 * The first event of a context under the function makes a new node of the calling context tree, so
 * it is enough to look at new nodes: while this waits for the beginning, stacks of all allocations
 * are taken and only their contexts are recorded. The functions' addresses come from the symbols of
 * each module when it is first seen, a library that is loaded later too.
 *
 * All functions but the first need the guard held.
 */
#ifndef MPROF_CAPTURE_CALL_WATCH_H
#define MPROF_CAPTURE_CALL_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/stack.h"
#include "capture/thread.h"

/* Set once, at the start: there is such a condition for the beginning, the end. */
extern bool call_watch_starts, call_watch_stops;

/* Names as symbol_name.h has them, "": none. They are copied. */
void call_watch_process_init(const char *start, const char *stop);

/* What stacks were found to consist of; for the sink of stack.h, before a node that names the
 * module. */
void call_watch_module(const struct stack_module *module);
void call_watch_node(struct thread *thread, const struct stack_node *node);

/* For each allocation that may be the first in the function, recorded or not; begins recording
 * where it is. The end comes behind the event (call_watch_act()). */
void call_watch_allocation(struct thread *thread, const void *frame);

/* Recording has begun, by this or otherwise: contexts from before are new ones for the end. */
void call_watch_begun(void);

/* Begins or ends recording if it is time. Needs the guard not held. */
void call_watch_act(void);

#endif
