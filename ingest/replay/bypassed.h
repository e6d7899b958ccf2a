/* SPDX-License-Identifier: BSD-2-Clause */
/* The modules of which the recorder did not see all calls, as the trace names them. */
#ifndef MPROF_INGEST_REPLAY_BYPASSED_H
#define MPROF_INGEST_REPLAY_BYPASSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/base/array.h"
#include "ingest/trace/extended.h"

/* A set of lines. Zero-initialised: none. */
struct bypassed_lines {
    char *text; /* NULL: none */
    size_t length, capacity, count;
    size_t *starts; /* of each line in the text */
    size_t start_capacity;
    struct index_map by_line;
};

/* One module in each line. */
struct bypassed {
    struct bypassed_lines late;   /* paths: only recorded from some moment on */
    struct bypassed_lines unseen; /* "PATH (WHY)": not recorded */
};

/* Adds the module of a BYPASS record. False if memory is exhausted. */
bool bypassed_add(struct bypassed *bypassed, const struct trace_extension *extension);
void bypassed_free(struct bypassed *bypassed);

#endif
