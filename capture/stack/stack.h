/* SPDX-License-Identifier: BSD-2-Clause */
/* The calling thread's stack as a node of the calling context tree.
 *
 * Interface: stack_init() once, stack_thread_init() for each thread's state, then
 * stack_current() on each event that wants a stack. New nodes and modules are handed to the
 * caller by stack_sink before any thread can see their ids.
 *
 * How it works: an unwinder over .eh_frame with one compact rule per pc, cached. Each thread keeps
 * its last stack, and only the part that changed is walked and looked up. It uses no lock, no libc
 * allocation and no loader function that locks (only _dl_find_object, which is lock-free). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/os/options.h"
#include "capture/stack/sink.h"

void stack_init(const struct stack_options *options, const struct stack_sink *sink);

/* Called in a forked child before its first event. Nothing has been written to its trace yet. */
void stack_after_fork(void);

/* Called at the start of a new trace in the same process. All modules and nodes are new again. */
void stack_new_trace(void);

/* Prepares for stack_turn(), before the first event: from here on it is kept what each node is.
 * False without memory, or if functions report themselves. */
bool stack_may_turn(void);
/* Does what stack_new_trace() does while no other thread takes a stack, and begins the ids of nodes
 * again. Until stack_turn_end(), stack_carry() defines a node of the trace before in the new one,
 * and returns its new id; 0: its code is no longer loaded, or it could not be written. Returns
 * false if there is no memory; then nothing has changed. */
bool stack_turn(void);
uint32_t stack_carry(uint32_t node, void *context);
void stack_turn_end(void);

/* Makes known contexts new again, in the same trace, under new ids. */
void stack_contexts_renew(void);

/* Opaque per-thread state in stack_thread_size() bytes of an anonymous mapping, zeroed before the
 * first stack_thread_init(). */
struct stack_thread;
size_t stack_thread_size(void);
/* Begins with the calling thread. Forgets what a thread before it has left in the state. Finds the
 * bounds of the stack without the loader or pthread_getattr_np. */
void stack_thread_init(struct stack_thread *thread);

/* Returns the id of the innermost node, or 0 if no stack could be taken.
 *
 * The walk begins at the frame of the public entry point (malloc, …), which is compiled with a
 * frame pointer: pass __builtin_frame_address(0) of it as `entry_frame`. [fp] is the caller's rbp,
 * [fp + 8] the return address, fp + 16 the caller's stack pointer. */
uint32_t stack_current(struct stack_thread *thread, const void *entry_frame, void *context);

/* Finds and announces the module that `address` (of code or data) lies in, and the address in its
 * ELF file. Returns false if no module is there or it could not be written. */
bool stack_place(const void *address, uint32_t *module, uint64_t *value, void *context);

/* Registers a runtime, whose frames lie in stacks from here on. Returns its number from 1, or 0 if
 * there is no room for another one. */
struct mprof_runtime_calls;
uint32_t stack_add_runtime(const char *name, const struct mprof_runtime_calls *calls, void *data);
/* Returns the module that a runtime has in the trace, which is announced. 0: there is none, or it
 * could not be written. */
uint32_t stack_runtime_module(uint32_t runtime, void *context);

/* Drops the rules, nodes and stacks of modules that are no longer mapped, after dlclose(). */
void stack_modules_changed(void *context);

/* Figures for tests and for the summary. */
struct stack_figures {
    uint64_t nodes, rules, modules, bytes; /* bytes: memory mapped for all tables */
};
void stack_figures(struct stack_figures *figures);
