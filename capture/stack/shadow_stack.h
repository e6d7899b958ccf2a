/* SPDX-License-Identifier: BSD-2-Clause */
/* The stack of a thread as the functions themselves report it (unwind=instrument).
 *
 * A program built with -finstrument-functions calls a hook when a function is entered and when it
 * is left. Each thread's entered functions are kept here, outermost first, with the place of each
 * on the real stack. That place decides what is still running. An entry was left without its hook
 * (by an exception, by longjmp) if it lies below the stack pointer or its return address has
 * changed. Such an entry is dropped.
 *
 * Only functions that run on the thread's own stack are kept. On other stacks (of signals, of
 * coroutines) the hooks do nothing, and shadow_stack_node() says that it does not know.
 *
 * shadow_stack_on is set once; then shadow_stack_begin() for each thread, shadow_stack_enter() and
 * shadow_stack_leave() for each hook, shadow_stack_node() for each event, shadow_stack_end() when
 * the thread ends. Signal handlers may interrupt each of these functions and call them. They use no
 * lock and no libc. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct shadow_stack;
struct stack_thread;

/* True if the hooks do anything. */
extern bool shadow_stack_on;
/* The calling thread's shadow stack. NULL: it has none yet, or has ended. */
extern __thread struct shadow_stack *shadow_stack_own __attribute__((tls_model("initial-exec")));

/* The call of a hook. */
struct shadow_call {
    uint64_t function, call_site; /* as the compiler passes them */
    uint64_t sp;                  /* the stack pointer of the function that called the hook */
    uint64_t site;                /* the hook's return address in that function */
    uint64_t rbp;                 /* the rbp of that function */
};

/* Gives the calling thread a shadow stack. `thread` is initialized and knows its stack. Returns
 * NULL if there is no memory. */
struct shadow_stack *shadow_stack_begin(const struct stack_thread *thread);
void shadow_stack_end(void);
/* Frees the shadow stacks of other threads, in a forked child. */
void shadow_stack_after_fork(void);

void shadow_stack_enter(struct shadow_stack *shadow, const struct shadow_call *call);
void shadow_stack_leave(struct shadow_stack *shadow, const struct shadow_call *call);

/* The stack that an event asks for. */
struct shadow_request {
    uint64_t pc, sp;     /* of the function that called the allocator */
    uint32_t generation; /* of the modules; nodes of another generation are void */
    uint32_t limit;      /* of frames */
    void *context;       /* for the sink of new nodes */
};

/* Sets *node to the innermost node of the stack (0: it could not be written). Returns false if
 * nothing is known, because no function that runs on this stack has reported itself. */
bool shadow_stack_node(const struct shadow_request *request, uint32_t *node);
