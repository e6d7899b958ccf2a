/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of ECL and of its collector that the plug-in calls: those behind its own. */
#ifndef MPROF_RUNTIMES_ECL_REAL_H
#define MPROF_RUNTIMES_ECL_REAL_H

#include <ecl/ecl.h>
#include <gc/gc.h>
#include <gc/gc_mark.h>
#include <gc/gc_typed.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Lists them. Each is called X(name). */
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

#endif
