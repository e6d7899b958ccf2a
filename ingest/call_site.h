/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which functions are allocators or wrappers of one, and so no call site.
 *
 * The call site of an allocation is the innermost frame that is neither: the function that a
 * person would name when asked who allocated this. Decided by name alone, from a const table.
 */
#ifndef MPROF_INGEST_CALL_SITE_H
#define MPROF_INGEST_CALL_SITE_H

#include <stdbool.h>

enum function_role {
    ROLE_NONE = 0,
    ROLE_ALLOCATOR, /* hands out memory: operator new, std::allocator and its internals */
    ROLE_WRAPPER,   /* a program's or library's own name for malloc: xmalloc, g_malloc, strdup */
};

/* `name` is demangled. */
enum function_role call_site_role(const char *name);

/* 'allocator', 'wrapper' or NULL. */
const char *call_site_role_name(enum function_role role);

/*
 * Whether the function is a call of mprof.h that reports what a custom allocator gave out: no
 * frame of the program, and the function around it is that allocator.
 */
bool call_site_is_report(const char *name);

/* One of the first two, and any of the last two. */
enum operator_new {
    OPERATOR_OTHER = 0,
    OPERATOR_NEW = 1,
    OPERATOR_NEW_ARRAY = 2,
    OPERATOR_ALIGNED = 4,
    OPERATOR_NOTHROW = 8
};

/* Which of C++'s operators new the function is, by its demangled name; 0: none of them. */
unsigned call_site_operator(const char *name);

/* The same by the name that the linker knows. */
unsigned call_site_operator_linkage(const char *linkage);

#endif
