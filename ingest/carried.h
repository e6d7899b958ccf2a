/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The suppressions of leaks that a recorded program carries (mprof-run --suppressions), as its
 * trace has them: SUPPRESSIONS records.
 */
#ifndef MPROF_INGEST_CARRIED_H
#define MPROF_INGEST_CARRIED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/problems.h"
#include "ingest/trace_extended.h"

struct suppressions;

/* Zero-initialised: the trace has no such record. */
struct carried {
    bool found;
    bool broken;      /* pieces are missing or do not fit one another */
    uint64_t outcome; /* enum trace_suppressions */
    char *text;       /* what is there of it */
    size_t length, capacity;
    uint64_t total; /* bytes that the program's function returned */
};

/* Takes a SUPPRESSIONS record. False: memory is exhausted. */
bool carried_add(struct carried *carried, const struct trace_extension *extension);
void carried_free(struct carried *carried);

/*
 * Returns the patterns of `file`, which may be NULL, and behind them those of the program. Notes on
 * `problems`, unless that is NULL, why the program's are not there or not all of them, and each
 * line that is no suppression. NULL: memory is exhausted. Free it by suppressions_free().
 */
struct suppressions *carried_join(const struct carried *carried, const struct suppressions *file,
                                  struct problems *problems);

#endif
