/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stack of a thread as the functions themselves report it (unwind=instrument).
 *
 * A program built with -finstrument-functions calls a hook when a function is entered and when it
 * is left. For each thread the functions that are entered are kept here, outermost first, with the
 * place of each on the real stack. That place decides what is still running: an entry that lies
 * below the stack pointer, or whose return address stands no more where it lay, was left without
 * its hook (by an exception, by longjmp) and is dropped.
 *
 * Only what runs on the thread's own stack is kept. On other stacks (of signals, of coroutines)
 * the hooks do nothing, and shadow_stack_node() says that it does not know.
 *
 * shadow_stack_on is set once; then shadow_stack_begin() for each thread, shadow_stack_enter() and
 * shadow_stack_leave() for each hook, shadow_stack_node() for each event, shadow_stack_end() when
 * the thread ends. Signal handlers may interrupt each of them and call them. No lock, no libc.
 */
#ifndef MPROF_CAPTURE_SHADOW_STACK_H
#define MPROF_CAPTURE_SHADOW_STACK_H

#include <stdbool.h>
#include <stdint.h>

struct shadow_stack;
struct stack_thread;

/* Whether the hooks do anything. */
extern bool shadow_stack_on;
/* Of the calling thread; NULL: none yet, or not any more. */
extern __thread struct shadow_stack *shadow_stack_own __attribute__((tls_model("initial-exec")));

/* Where a hook was called. */
struct shadow_call {
    uint64_t function, call_site; /* what the compiler gives it */
    uint64_t sp;                  /* the stack pointer of the function that called the hook … */
    uint64_t site;                /* … and the hook's return address in it */
    uint64_t rbp;                 /* its rbp */
};

/* Gives the calling thread one; `thread` is initialized and knows its stack. NULL: no memory. */
struct shadow_stack *shadow_stack_begin(const struct stack_thread *thread);
void shadow_stack_end(void);
/* In a forked child: those of other threads are free. */
void shadow_stack_forked(void);

void shadow_stack_enter(struct shadow_stack *shadow, const struct shadow_call *call);
void shadow_stack_leave(struct shadow_stack *shadow, const struct shadow_call *call);

/* What an event is asked for. */
struct shadow_request {
    uint64_t pc, sp;     /* of the function that called the allocator */
    uint32_t generation; /* of the modules: nodes of another one are void */
    uint32_t limit;      /* of frames */
    void *context;       /* for the sink of new nodes */
};

/*
 * Sets *node to the innermost node of the stack (0: it could not be written). False where nothing
 * is known: no function that runs on this stack has reported itself.
 */
bool shadow_stack_node(const struct shadow_request *request, uint32_t *node);

#endif
