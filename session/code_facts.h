/* SPDX-License-Identifier: BSD-2-Clause */
/* The code behind the names of a session: modules, functions and frames with their addresses, and
 * the arenas. For reports and exports, which name code to other programs.
 *
 * The rules of session.h hold: one thread at a time uses a session; text is valid until
 * session_close(). The first call that needs more than the session has loaded reads it by SQL; so
 * even a getter may fail. Ids count from 1; an id that does not exist is an error.
 *
 * Two kinds of addresses occur. A `pc` or a start of a function is an address in the ELF file of
 * its module. An address in the process is that plus the module's load_bias. Code that lies in no
 * module (module 0) has addresses in the process only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

/* ---- modules ---------------------------------------------------------------------------- */

/* A program or library, each time that it was mapped. */
struct session_module {
    uint32_t id;
    const char *path, *name; /* name: last component of path */
    const char *build_id;    /* hexadecimal, "" if the file has none */
    uint64_t load_bias;      /* address in the process minus address in the file, modulo 2^64 */
    uint64_t start, end;     /* addresses in the process, `end` after the last one */
    uint64_t loaded_ns;      /* when it was mapped */
    uint64_t unloaded_ns;    /* UINT64_MAX: it stayed to the end */
    const char *symbols;     /* "dwarf", "symtab", "dynsym", "none", or why there are none */
};

/* Stores all modules, by id. They belong to the session. Returns false with `error` set. */
bool session_modules(struct session *session, const struct session_module **modules, size_t *count,
                     struct session_error *error);
/* Stores one module. Returns false with `error` set. */
bool session_module(struct session *session, uint32_t id, struct session_module *module,
                    struct session_error *error);

/* ---- functions -------------------------------------------------------------------------- */

enum session_role {
    SESSION_ROLE_NONE,
    SESSION_ROLE_ALLOCATOR, /* its frames are not call sites */
    SESSION_ROLE_WRAPPER,   /* ingest found that its frames are not call sites either */
    SESSION_ROLE_RUNTIME,   /* a function of an interpreter, as that handed it over */
    SESSION_ROLE_EVALUATOR, /* evaluates such functions */
};

struct session_function {
    uint32_t id;
    const char *name;         /* demangled */
    const char *linkage_name; /* mangled; the same as `name` where they do not differ */
    uint32_t module;          /* 0: none */
    const char *file;         /* where it is declared, the full path; "": not known */
    uint32_t line;            /* 0: not known */
    enum session_role role;
    bool has_start; /* `start` is known */
    /* The beginning of its code out of line. If stacks show several copies of its code (clones that
     * a compiler made), the lowest of their addresses. A cold part may lie below. */
    uint64_t start;
};

/* Returns the number of functions. Their ids are 1 to this number. */
uint32_t session_function_count(const struct session *session);
/* Stores one function. Returns false with `error` set. */
bool session_function(struct session *session, uint32_t id, struct session_function *function,
                      struct session_error *error);
/* Stores where a function's code begins. Returns false if that is not known, or not readable. */
bool session_function_start(struct session *session, uint32_t id, uint64_t *address);

/* ---- frames ----------------------------------------------------------------------------- */

/* A place in the code: one or many stacks have it. */
struct session_code_frame {
    uint32_t id, function, module; /* module 0: none */
    uint64_t pc;                   /* of a call: the return address minus 1 */
    const char *file;              /* full path, "": not known */
    uint32_t line;                 /* 0: not known */
    bool inlined;                  /* into the next outer frame */
    bool bare; /* no unwinding rule covers it: its frame pointer led to its caller */
};

/* Stores one frame. The ids count from 1. Returns false with `error` set. */
bool session_code_frame(const struct session *session, uint32_t id,
                        struct session_code_frame *frame, struct session_error *error);

/* Loads the frames of all stacks, which takes four bytes of memory for each. From then on stacks
 * are read without SQL. Call it before asking for many. Returns false with `error` set. */
bool session_load_stacks(struct session *session, struct session_error *error);
/* Returns the largest id of a stack. Stack 0 has no frames. */
uint32_t session_stack_largest(const struct session *session);
/* Stores the ids of a stack's frames, innermost first, and their number. They are valid until the
 * next call about a stack. Returns false with `error` set. */
bool session_stack_frames(struct session *session, uint32_t stack, const uint32_t **frames,
                          size_t *count, struct session_error *error);

/* A frame with its callers. All stacks are one tree of such nodes, which count from 1: so what
 * stacks share need not be gone through for each of them. All nodes inwards of a node are those
 * directly before it: from the highest number down, a caller comes before its callees. */
struct session_stack_node {
    uint32_t caller; /* a higher number; 0: the frame is the outermost one */
    uint32_t frame;
};
/* These functions want session_load_stacks() before. Return the highest number of a node, a node
 * from 1 on, and the number of a stack's innermost node, 0 if the stack has no frames. */
uint32_t session_stack_nodes(const struct session *session);
struct session_stack_node session_stack_node(const struct session *session, uint32_t node);
uint32_t session_stack_innermost(const struct session *session, uint32_t stack);
/* Visits all nodes from the outermost frames inwards. `recurs`: a node outward has the function,
 * too. Returns false if a visit does, or with `error` set. */
bool session_each_stack_node(struct session *session,
                             bool (*visit)(void *context, uint32_t node,
                                           const struct session_code_frame *frame, bool recurs),
                             void *context, struct session_error *error);
/* Stores by stack the node of its call site, its innermost node if none is known. The caller
 * free()s them. Returns false with `error` set. */
bool session_stack_sites(struct session *session, uint32_t **nodes, struct session_error *error);

/* Stores the id of the frame of a stack's call site, or of its innermost frame; 0: it has no
 * frames. Returns false with `error` set. */
bool session_stack_site_frame(struct session *session, uint32_t stack, uint32_t *frame,
                              struct session_error *error);

/* ---- arenas ----------------------------------------------------------------------------- */

/* An allocator of the program's own. The sums are those of its own blocks. */
struct session_arena {
    uint32_t id, parent; /* parent 0: its memory is of the heap */
    const char *name;
    uint64_t allocations, objects, bytes, live_count, live_bytes; /* live: at the end */
    uint64_t peak_bytes, peak_ns;                                 /* its largest live bytes */
};

/* Stores the session's arenas, by id, without the heap. Returns false with `error` set. */
bool session_arenas(struct session *session, const struct session_arena **arenas, size_t *count,
                    struct session_error *error);

/* Stores whether a garbage collector took blocks of an arena. Returns false with `error` set. */
bool session_has_collected(struct session *session, bool *any, struct session_error *error);
