/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records the blocks of ECL's heap: allocations with their kind, frees, and what the collector
 * reclaims.
 */
#ifndef MPROF_RUNTIMES_ECL_RECORD_H
#define MPROF_RUNTIMES_ECL_RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/mprof.h"

#include "runtimes/ecl/blocks.h"
#include "runtimes/ecl/real.h"

/* The kinds of blocks: the tags of ECL's objects, and three of the plug-in's own. */
enum { KIND_POINTERS = t_end, KIND_DATA, KIND_COLLECTOR, KIND_COUNT };

struct record {
    _Atomic bool on;
    _Atomic bool booted; /* ECL has made its first thread's environment */
    mprof_arena arena;
    mprof_kind kinds[KIND_COUNT];
};

extern struct record record __attribute__((visibility("hidden")));

/* The thread's environment while it records a block; NULL at other times. */
extern _Thread_local cl_env_ptr record_present
    __attribute__((visibility("hidden"), tls_model("initial-exec")));

/* Begins recording for that runtime. Called once, before any other thread allocates. */
void record_begin(mprof_runtime runtime);

/* Returns the thread's environment. NULL: ECL does not know the thread. */
static inline cl_env_ptr record_environment(void)
{
    return atomic_load_explicit(&record.booted, memory_order_acquire)
               ? REAL(ecl_process_env_unsafe)()
               : NULL;
}

/*
 * While the recorder works for a thread, ECL must not run Lisp code in a signal handler of that
 * thread: it might leave the handler by a jump. ECL has a flag for that in each thread's
 * environment. When the flag is cleared, ECL runs what waits.
 */
static inline cl_env_ptr record_hold(void)
{
    cl_env_ptr env = record_environment();
    record_present = env;
    if (!env || env->disable_interrupts)
        return NULL;
    env->disable_interrupts = 1;
    atomic_signal_fence(memory_order_seq_cst);
    return env;
}

static inline void record_release(cl_env_ptr env)
{
    record_present = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    if (env)
        env->disable_interrupts = 0;
}

/* Records a new block. Inlined, so that the stack begins at the function that ECL called. */
static inline __attribute__((always_inline)) void record_block(void *block, size_t size,
                                                               unsigned kind)
{
    if (!atomic_load_explicit(&record.on, memory_order_acquire) ||
        mprof_arena_skips(record.arena, block, size))
        return;
    cl_env_ptr env = record_hold();
    if (!blocks_add((uintptr_t)block))
        mprof_collected(record.arena, block);
    mprof_arena_alloc_kind(record.arena, block, size, 1, record.kinds[kind]);
    record_release(env);
}

/* Records that a function of the program frees a block, if its allocation was recorded. */
static inline __attribute__((always_inline)) void record_free(void *block)
{
    cl_env_ptr env;
    if (!block || !atomic_load_explicit(&record.on, memory_order_acquire))
        return;
    env = record_hold();
    if (blocks_remove((uintptr_t)block))
        mprof_arena_free(record.arena, block);
    record_release(env);
}

#endif
