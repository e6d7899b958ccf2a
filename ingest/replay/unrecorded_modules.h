/* SPDX-License-Identifier: BSD-2-Clause */
/* The modules of which the recorder did not see all calls, as the trace names them. */
#ifndef MPROF_INGEST_REPLAY_UNRECORDED_MODULES_H
#define MPROF_INGEST_REPLAY_UNRECORDED_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/base/array.h"
#include "ingest/trace/extended.h"

/* A set of lines. Zero-initialized: none. */
struct module_lines {
    char *text; /* or NULL */
    size_t length, capacity, count;
    size_t *starts; /* of each line in the text */
    size_t start_capacity;
    struct index_map by_line;
};

/* One module in each line. */
struct unrecorded_modules {
    struct module_lines late;   /* paths: only recorded from some moment on */
    struct module_lines unseen; /* "PATH (WHY)": not recorded */
};

/* Adds the module of a BYPASS record. False if memory is exhausted. */
bool unrecorded_modules_add(struct unrecorded_modules *unrecorded,
                            const struct trace_extension *extension);
void unrecorded_modules_free(struct unrecorded_modules *unrecorded);

#endif
