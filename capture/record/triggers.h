/* SPDX-License-Identifier: BSD-2-Clause */
/* The triggers that begin and end recording while the program runs: calls of functions, limits of
 * allocations and bytes, and a signal. recorder.c acts on them after the event. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/os/options.h"
#include "capture/record/thread.h"
#include "capture/stack/stack.h"

enum threshold_due { THRESHOLD_NOTHING, THRESHOLD_BEGIN, THRESHOLD_END };

/* Tells when the program calls a function at which recording begins or ends: start=call:SYMBOL and
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
 * call_watch_module() and those after it need the guard held. */

/* Set once, at the start: recording has such a condition for its beginning, or for its end. */
extern bool call_watch_starts, call_watch_stops;

/* Copies the names, which have the form of symbol_name_is(). "": none. */
void call_watch_init(const char *start, const char *stop);

/* Look at a new module and a new node, and only note what they see. The sink of stack.h calls them,
 * for a module before the first node that names it. */
void call_watch_module(const struct stack_module *module);
void call_watch_node(struct thread *thread, const struct stack_node *node);

/* Tell whether recording has to begin, or to end, because the stack of an event has shown the
 * function. The answer is given once. */
bool call_watch_take_start(void);
bool call_watch_take_stop(void);

/* Returns true if `symbol` is the function `wanted`. That is a symbol's name as the file has it, or
 * the name of a C++ function without its parameters: `Cache::load` stands for all overloads. Parts
 * that the compiler split off (name.part.0, name.cold) and versions (name@@V) are the function too.
 * Templates, constructors and operators must be named as in the file. */
bool symbol_name_is(const char *wanted, const char *symbol);

/* Tells when the program has made so many allocations or holds so many bytes.
 *
 * Every allocation and free is counted, recorded or not, while a limit is ahead. Each thread counts
 * for itself and adds to the common sums in grains. A grain is a sixty-fourth of the nearest limit,
 * and at most 256 allocations or 64 KiB. For each thread the sums lag behind by less than a grain.
 * Bytes are those that the allocator set aside, because a free does not say how many were asked
 * for. */

/* True while a limit is ahead. */
extern _Atomic bool threshold_counts;

/* Sets the limits, once, at the start. */
void threshold_init(struct options_limit start, struct options_limit stop);

/* Counts an allocation. Returns true if a limit has been passed: then call threshold_take_due().
 * Needs a live block. */
bool threshold_count_allocation(struct threshold_part *part, const void *address);

/* Counts an allocation of an arena. Its bytes lie in memory that is counted already, or that no
 * allocator tells about. */
bool threshold_count_arena(struct threshold_part *part);

/* Counts a free of the process heap. Call it before the real free. */
bool threshold_count_free(struct threshold_part *part, const void *address);

/* Returns true if recording has to begin or end, because a limit has been passed. Only one caller
 * gets the answer for each limit. */
enum threshold_due threshold_take_due(void);

/* The signal of --toggle: its handler, and how often it came.
 *
 * The recorder has its own handler for the signal. If the program has one too, at the start or
 * later, there is no toggle: one line says so, and the program's handler stays. The recorder checks
 * this when the program starts, when a thread begins a chunk, and at the end. */

/* The signals that came and were not acted on yet. */
extern _Atomic uint32_t toggle_signal_count;

/* Installs the handler for the signal `number`, once in a program. 0: there is no toggle. */
void toggle_signal_take(uint32_t number, void (*handler)(int number));

/* Checks that the handler is still the recorder's. */
void toggle_signal_check(void);
