/* SPDX-License-Identifier: BSD-2-Clause */
/* The runtimes of the program (mprof_runtime_create()), and the names of their functions.
 *
 * All threads share them without a lock. A function is asked for its name once, and equal names
 * have one number. Names stay until the process ends, because the key of a function may be gone
 * when a later trace needs its name. In the calling context tree the frame of a runtime is a pseudo
 * pc: the runtime, the number of the name, and the line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/stack/thread_state.h"

#define MPROF_IMPLEMENTATION
#include "capture/mprof.h"

#include "capture/stack/sink.h"
#include "schemas/trace_layout.h"

#define RUNTIMES_MAX 15u

/* A pseudo pc: smaller than the addresses of libraries, so that it is never taken for unloaded
 * code, and never 0. */
#define RUNTIME_PC_NUMBER_SHIFT TRACE_RUNTIME_LINE_BITS
#define RUNTIME_PC_RUNTIME_SHIFT (TRACE_RUNTIME_LINE_BITS + 20)

/* Adds a runtime. Copies its arguments. Returns its number from 1, or 0 if there is no room. */
uint32_t runtimes_add(const char *name, const struct mprof_runtime_calls *calls, void *data);

/* Returns how many runtimes there may be: numbers 1 to this. */
uint32_t runtimes_count(void);

/* Returns the trace's module of a runtime, which is announced to the sink if it is new in this
 * trace. 0: there is no such runtime, or it could not be written. */
uint32_t runtimes_module(uint32_t runtime, const struct stack_sink *sink, void *context);

/* Asks a runtime for the calling thread's frames, innermost first, at most `max`. */
uint32_t runtimes_frames(uint32_t runtime, struct mprof_frame *frames, uint32_t max);

/* Returns the pseudo pc of a frame. `name` is room for its name. */
uint64_t runtimes_pc(uint32_t runtime, const struct mprof_frame *frame,
                     struct mprof_frame_name *name);

/* Sets the module and the value of the node of a pseudo pc. Announces what is new in this trace to
 * the sink. False if that could not be written. */
bool runtimes_define(uint64_t pc, struct stack_node *node, const struct stack_sink *sink,
                     void *context);

/* Has everything announced again, at the start of a new trace. */
void runtimes_announce_again(void);
/* Does that in a forked child, too. */
void runtimes_after_fork(void);

/* ---- stacks -------------------------------------------------------------------------------- */

/* Stacks in which the functions of runtimes lie between the native frames that evaluate them. Each
 * thread keeps its last such stack. The frames that are the same from the outermost on are not
 * looked up again. */

/* Returns the bytes that a thread needs for stacks of at most `limit` native frames. They are
 * reserved, but take no memory before there is a runtime. */
size_t runtime_stack_size(uint32_t limit);

/* Places the thread's room at `room`, which is zero. */
void runtime_stack_init(struct stack_thread *thread, void *room);

/* Forgets the last stack: its nodes are no longer valid. */
void runtime_stack_clear(struct stack_thread *thread);

/* Does what stack_current() does if there are runtimes. `guess` as in walk.h. `entry` are the words
 * of the frame of the entry point. */
uint32_t runtime_stack_current(struct stack_thread *thread, const uint64_t *entry, bool guess,
                               void *context);
