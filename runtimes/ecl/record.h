/* SPDX-License-Identifier: BSD-2-Clause */
/* Records ECL's heap: allocations with their kind, frees, what the collector reclaims. */
#pragma once

#include <ecl/ecl.h>
#include <gc/gc.h>
#include <gc/gc_mark.h>
#include <gc/gc_typed.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/mprof.h"

#include "runtimes/ecl/blocks.h"

/* Lists the functions of ECL and of its collector that the plug-in calls: those behind its own.
 * Each is called X(name). */
#define REAL_FUNCTIONS(X)                                                                          \
    X(ecl_alloc_object)                                                                            \
    X(ecl_cons)                                                                                    \
    X(ecl_list1)                                                                                   \
    X(ecl_alloc_compact_object)                                                                    \
    X(ecl_alloc)                                                                                   \
    X(ecl_alloc_atomic)                                                                            \
    X(ecl_alloc_unprotected)                                                                       \
    X(ecl_alloc_atomic_unprotected)                                                                \
    X(ecl_alloc_uncollectable)                                                                     \
    X(si_make_weak_pointer)                                                                        \
    X(ecl_process_env_unsafe)                                                                      \
    X(GC_malloc)                                                                                   \
    X(GC_malloc_atomic)                                                                            \
    X(GC_malloc_uncollectable)                                                                     \
    X(GC_malloc_atomic_uncollectable)                                                              \
    X(GC_malloc_ignore_off_page)                                                                   \
    X(GC_malloc_atomic_ignore_off_page)                                                            \
    X(GC_malloc_explicitly_typed)                                                                  \
    X(GC_malloc_explicitly_typed_ignore_off_page)                                                  \
    X(GC_calloc_explicitly_typed)                                                                  \
    X(GC_realloc)                                                                                  \
    X(GC_free)                                                                                     \
    X(GC_size)                                                                                     \
    X(GC_base)                                                                                     \
    X(GC_is_marked)                                                                                \
    X(GC_get_on_collection_event)                                                                  \
    X(GC_set_on_collection_event)

enum real_function {
#define REAL_NUMBER(name) REAL_##name,
    REAL_FUNCTIONS(REAL_NUMBER)
#undef REAL_NUMBER
        REAL_COUNT
};

extern void *_Atomic real_functions[REAL_COUNT];

/* Writes the name of the library that the headers are of, "libecl.so.21.2". */
#define REAL_LIBRARY_SIZE 32
void real_library(char name[REAL_LIBRARY_SIZE]);

/* Looks the function up, at the first call of one that is not known yet. The process ends, with a
 * message, if there is none: the caller found it. */
void *real_find(enum real_function function);

/* Looks all functions up that are there. Later, none is looked up while the recorder works or the
 * collector holds its lock: another thread may hold the lock of the loader, and wait for that. */
void real_find_all(void);

static inline void *real_get(enum real_function function)
{
    void *found = atomic_load_explicit(&real_functions[function], memory_order_acquire);
    return __builtin_expect(found != NULL, 1) ? found : real_find(function);
}

/* The function of that name, with its type. */
#define REAL(name) ((__typeof__(name) *)real_get(REAL_##name))

/* Returns true if libecl is in the process, as a library that was there when it started. */
bool real_is_there(void);

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

/* While the recorder works for a thread, ECL must not run Lisp code in a signal handler of that
 * thread: it might leave the handler by a jump. ECL has a flag for that in each thread's
 * environment. When the flag is cleared, ECL runs what waits. */
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

/* Begins to record ECL, which is in the process. Later calls do nothing. Defined in plugin.c. */
void plugin_begin(void);
