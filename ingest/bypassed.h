/* The modules that the recorder did not see all calls of, as the trace names them. */
#ifndef MPROF_INGEST_BYPASSED_H
#define MPROF_INGEST_BYPASSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/trace_extended.h"

/* One module a line, each once; NULL: none. */
struct bypassed {
    char *late;   /* paths: recorded from some moment on only */
    char *unseen; /* "PATH (WHY)": not recorded */
    size_t late_count, unseen_count;
};

/* Adds what a BYPASS record says. False: memory is exhausted. */
bool bypassed_add(struct bypassed *bypassed, const struct trace_extension *extension);
void bypassed_free(struct bypassed *bypassed);

#endif
