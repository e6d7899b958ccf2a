/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of a session: frames, functions and source files of distinct program counters.
 *
 * Each distinct pc of a module is symbolized once, when it is first asked for. Its frames (inlined
 * ones innermost first) are consecutive rows. If a file was loaded twice (dlclose, dlopen), its
 * functions are the same.
 */
#ifndef MPROF_INGEST_REPLAY_FRAMES_H
#define MPROF_INGEST_REPLAY_FRAMES_H

#include "ingest/base/array.h"
#include "ingest/replay/call_site.h"
#include "ingest/symbols/symbols.h"

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

/*
 * Returns the frames of `pc` (as symbols_lookup() wants it) of `module`. Their functions are rows
 * of `function_module`, which represents all modules of the same file. count 0: memory is
 * exhausted.
 */
struct frame_range frames_at(struct frames *frames, uint32_t module, uint32_t function_module,
                             uint64_t pc);
/*
 * Does the same for a function of a runtime. `pc` is the value of its node, `name` its name or
 * NULL.
 */
struct runtime_name;
struct frame_range frames_of_runtime(struct frames *frames, uint32_t module,
                                     uint32_t function_module, uint64_t pc,
                                     const struct runtime_name *name);
void frames_free(struct frames *frames);

#endif
