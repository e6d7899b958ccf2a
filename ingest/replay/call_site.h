/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells which functions are allocators or wrappers of one, and so not call sites.
 *
 * The call site of an allocation is the innermost frame that is neither: the function that a person
 * would name when asked who allocated this. The name alone decides, by a const table.
 */
#ifndef MPROF_INGEST_REPLAY_CALL_SITE_H
#define MPROF_INGEST_REPLAY_CALL_SITE_H

#include <stdbool.h>

enum function_role {
    ROLE_NONE = 0,
    ROLE_ALLOCATOR, /* hands out memory: operator new, std::allocator and its internals */
    ROLE_WRAPPER,   /* a program's or library's own name for malloc: xmalloc, g_malloc, strdup */
    ROLE_RUNTIME,   /* a function of a runtime, whose frames the program handed over */
    ROLE_EVALUATOR, /* evaluates such functions */
};

/* Returns the role of the function with the demangled `name`. */
enum function_role call_site_role(const char *name);

/* Returns 'allocator', 'wrapper', 'runtime', 'evaluator' or NULL. */

const char *call_site_role_name(enum function_role role);

/*
 * Returns true if the function is a call of mprof.h that reports a block of a custom allocator.
 * Such a call is not a frame of the program, and the function around it is that allocator.
 */
bool call_site_is_report(const char *name);

/* Returns true if a function with this role can be a call site. */
static inline bool call_site_is_possible(enum function_role role)
{
    return role != ROLE_ALLOCATOR && role != ROLE_WRAPPER;
}

/* One of NEW and NEW_ARRAY, with any of ALIGNED and NOTHROW. */
enum operator_new {
    OPERATOR_OTHER = 0,
    OPERATOR_NEW = 1,
    OPERATOR_NEW_ARRAY = 2,
    OPERATOR_ALIGNED = 4,
    OPERATOR_NOTHROW = 8
};

/* Tells by its demangled name which operator new of C++ the function is. 0: none. */
unsigned call_site_operator(const char *name);

/* Tells the same by the name that the linker knows. */
unsigned call_site_operator_linkage(const char *linkage);

#endif
