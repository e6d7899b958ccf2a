/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells when the program calls a function at which recording begins or ends: start=call:SYMBOL and
 * stop=call:SYMBOL.
 *
 * It sees a call by the first heap call that is made under it: the function is then on the stack,
 * which is taken anyway. It changes nothing in the program, so nothing stays changed in threads, in
 * forked children, or when mprof-run is killed.
 *
 * The first event of a context under the function makes a new node of the calling context tree, so
 * it is enough to look at new nodes. Until recording begins, the stacks of all allocations are
 * taken, and only their nodes are recorded. The functions' addresses come from the symbols of each
 * module when it is first seen, also of a library that is loaded later.
 *
 * All functions but the first and the last need the guard held.
 */
#ifndef MPROF_CAPTURE_RECORD_CALL_WATCH_H
#define MPROF_CAPTURE_RECORD_CALL_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/record/thread.h"
#include "capture/stack/stack.h"

/* Set once, at the start: recording has such a condition for its beginning, or for its end. */
extern bool call_watch_starts, call_watch_stops;

/* Copies the names, which have the form of symbol_name.h. "": none. */
void call_watch_init(const char *start, const char *stop);

/* Look at a new module and a new node, and only note what they see. The sink of stack.h calls them,
 * for a module before the first node that names it. */
void call_watch_module(const struct stack_module *module);
void call_watch_node(struct thread *thread, const struct stack_node *node);

/* Tell whether recording has to begin, or to end, because the stack of an event has shown the
 * function. The answer is given once. */
bool call_watch_take_start(void);
bool call_watch_take_stop(void);

#endif
