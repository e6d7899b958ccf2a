/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of a session: frames, functions and source files of distinct program counters.
 *
 * Each distinct pc of a module is symbolized once, when it is first asked for. Its frames (inlined
 * ones innermost first) are consecutive rows. If a file was loaded twice (dlclose, dlopen), its
 * functions are the same. */
#pragma once

#include <stdbool.h>

#include "ingest/base/array.h"
#include "ingest/symbols/symbols.h"

/* Tells which functions are allocators or wrappers of one, and so not call sites.
 *
 * The call site of an allocation is the innermost frame that is neither: the function that a person
 * would name when asked who allocated this. The name alone decides, by a const table. */

enum function_role {
    ROLE_NONE = 0,
    ROLE_ALLOCATOR, /* hands out memory: operator new, std::allocator and its internals */
    ROLE_WRAPPER,   /* a program's or library's own name for malloc: xmalloc, g_malloc, strdup */
    ROLE_RUNTIME,   /* a function of a runtime, whose frames the program handed over */
    ROLE_EVALUATOR, /* evaluates such functions */
};

/* Returns the role of the function with the demangled `name`. `linkage_name` may be NULL. */
enum function_role call_site_role(const char *name, const char *linkage_name);

/* Returns 'allocator', 'wrapper', 'runtime', 'evaluator' or NULL. */

const char *call_site_role_name(enum function_role role);

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

/* ---- frames -------------------------------------------------------------------------------- */

#define FRAMES_NONE UINT32_MAX /* no such function, file or frame */

struct frame_row {
    uint64_t pc;
    uint32_t module;
    uint32_t function, source_file; /* indices; source_file may be FRAMES_NONE */
    uint32_t line;
    bool inlined;
    bool bare; /* no unwinding rule covers it; the walk used the frame pointer */
};

struct function_row {
    const char *name, *linkage_name; /* of the symbolizer; linkage_name may be NULL */
    uint32_t module;                 /* the trace's id of the first module of that file */
    uint32_t source_file, line;
    uint64_t start; /* address in the file of its code; of several copies the lowest; 0: unknown */
    enum function_role role;
    unsigned operator_new; /* enum operator_new */
};

/* The frames of a pc: rows first … first + count - 1, innermost first. */
struct frame_range {
    uint32_t first, count;
};

struct frames {
    struct symbols *symbols; /* not owned */
    struct frame_row *rows;
    size_t row_count, row_capacity;
    struct function_row *functions;
    size_t function_count, function_capacity;
    const char **source_files;
    size_t source_file_count, source_file_capacity;
    struct frame_range *ranges; /* one for each distinct pc */
    size_t range_count, range_capacity;
    struct index_map by_pc, by_function, by_source_file;
    /* The last function that could be one of Lisp, and its name there; NULL: it is not one. */
    struct {
        uint32_t module;
        const char *function, *name;
    } last_lisp;
};

/* Returns the frames of `pc` (as symbols_lookup() wants it) of `module`. Their functions are rows
 * of `function_module`, which stands for all modules of the file. count 0: no memory. */
struct frame_range frames_at(struct frames *frames, uint32_t module, uint32_t function_module,
                             uint64_t pc);
/* Does the same for a function of a runtime. `pc`: its node's value, `name` may be NULL. */
struct runtime_name;
struct frame_range frames_of_runtime(struct frames *frames, uint32_t module,
                                     uint32_t function_module, uint64_t pc,
                                     const struct runtime_name *name);
void frames_free(struct frames *frames);
